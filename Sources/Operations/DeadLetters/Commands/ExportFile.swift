import CLinux
import Glibc

/// A new file for messages with all that is in them, which nobody else can read.
final class ExportFile {
    private static let flushBytes = 1 << 16

    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// - Parameter path: `-` is standard output. A file that is there already is left alone.
    init(_ path: String) throws(ReferenceResolver.ReadFailure) {
        self.path = path
        if path == "-" {
            descriptor = STDOUT_FILENO
            return
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let reason = code == EEXIST ? "it exists already" : String(cString: strerror(code))
            throw ReferenceResolver.ReadFailure(reason: reason)
        }
    }

    deinit {
        if descriptor != STDOUT_FILENO { close(descriptor) }
    }

    /// False when it cannot be written.
    func write(_ line: [UInt8]) -> Bool {
        buffer += line
        buffer.append(UInt8(ascii: "\n"))
        return buffer.count < Self.flushBytes || flush()
    }

    /// Makes sure that all of it is on the disk.
    func finish() -> Bool {
        flush() && (descriptor == STDOUT_FILENO || fsync(descriptor) == 0 && syncFolder())
    }

    /// A new file's name is on the disk only with its folder.
    private func syncFolder() -> Bool {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    private func flush() -> Bool {
        let isWritten = buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                let count = Glibc.write(descriptor, base, rest.count)
                if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return false }
            }
            return true
        }
        buffer.removeAll(keepingCapacity: true)
        return isWritten
    }
}
