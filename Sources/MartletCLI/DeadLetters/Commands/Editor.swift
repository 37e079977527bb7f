import CLinux
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import Glibc
import Threads

/// The person's editor on a file.
struct Editor {
    private let pid: pid_t

    /// nil when it cannot be run.
    ///
    /// Through the shell, since the variable may hold options.
    init?(_ path: String) {
        let editor = Environment.nonBlank("VISUAL") ?? Environment.nonBlank("EDITOR") ?? "vi"
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The signals that this process waits for are the editor's own business.
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

    /// Waits until the person has closed it; false when it failed. What ends this process ends the editor, but for Ctrl-C,
    /// which is a key like others there.
    func hasSucceeded(_ interruption: Interruption) async -> Bool {
        interruption.leavesControlC = true
        let end = InterruptionEnd(pid)
        interruption.add(end)
        if interruption.code != nil { kill(pid, SIGTERM) }
        // It is reaped here, so that no signal can hit another process.
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
