import CLinux
import EventLoop
import Glibc

/// A file of its own for a text that a person edits, which nobody else can read.
struct EditedFile: Sendable {
    let path: String

    init(_ text: [UInt8]) throws(ReferenceResolver.ReadFailure) {
        let folder = Environment.value("TMPDIR") ?? "/tmp"
        let suffix = ".json"
        // Made with mode 0600.
        var template = Array("\(folder)/martlet-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        guard descriptor >= 0 else {
            throw ReferenceResolver.ReadFailure(reason: String(cString: strerror(errno)))
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(descriptor) }
        let isWritten = text.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                let count = write(descriptor, base, rest.count)
                if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return false }
            }
            return true
        }
        guard isWritten else {
            remove()
            throw ReferenceResolver.ReadFailure(reason: "it cannot be written")
        }
    }

    func remove() { unlink(path) }

    /// Waits until the person has closed the editor; false when it cannot be run or fails.
    func runEditor() async -> Bool {
        let editor = Environment.value("VISUAL") ?? Environment.value("EDITOR") ?? "vi"
        return await DetachedThread.run { [path] in Self.run(editor, path) }
    }

    /// Through the shell, since the variable may hold options.
    private static func run(_ editor: String, _ path: String) -> Bool {
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
        guard posix_spawn(&pid, "/bin/sh", nil, &attributes, arguments, environ) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 { guard errno == EINTR else { return false } }
        return status == 0
    }
}
