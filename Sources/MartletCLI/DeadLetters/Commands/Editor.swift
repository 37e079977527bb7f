import CLinux
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import Glibc
import Threads

/// A running editor process.
struct Editor {
    private let pid: pid_t

    /// Starts `$VISUAL`, `$EDITOR` or vi through the shell, since the variable may contain options. Returns nil if the
    /// shell cannot be started.
    init?(_ path: String) {
        let editor = Environment.nonBlank("VISUAL") ?? Environment.nonBlank("EDITOR") ?? "vi"
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The editor must receive the signals that this process blocks.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = ["sh", "-c", "\(editor) \"$1\"", "sh", path]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        guard posix_spawn(&pid, "/bin/sh", nil, &attributes, arguments, environ) == 0 else { return nil }
        self.pid = pid
    }

    /// Waits until the editor has exited. Returns false if the editor failed. Terminates the editor if this
    /// process receives SIGTERM or SIGHUP. Ignores SIGINT, because the editor handles Ctrl-C as a key.
    func hasSucceeded(_ interruption: Interruption) async -> Bool {
        interruption.leavesControlC = true
        let end = InterruptionEnd(pid)
        interruption.add(end)
        if interruption.code != nil { kill(pid, SIGTERM) }
        // With `WNOWAIT`, `waitid` does not reap the process, so its ID stays valid for `kill` until `waitpid` below.
        await DetachedThread.run { [pid] in
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        }
        interruption.remove(end)
        interruption.leavesControlC = false
        var status: Int32 = 0
        return waitpid(pid, &status, 0) == pid && status == 0
    }

    private final class InterruptionEnd: InterruptionHandler {
        private let pid: pid_t

        init(_ pid: pid_t) { self.pid = pid }

        override func interrupted(_ signal: Interruption.Signal) { kill(pid, SIGTERM) }
    }
}
