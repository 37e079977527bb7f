import CLinux
import CommandKit
import Configuration
import EventLoop
import Glibc

/// A new file for complete messages or registrations, or standard output. Only the owner can read the file.
final class ExportFile {
    private static let flushBytes = 1 << 16

    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The error number of the failed write or flush; 0 if none failed.
    private var errorNumber: Int32 = 0

    /// The reason why the write or flush failed.
    var failureReason: String { String(cString: strerror(errorNumber)) }

    /// Creates the file.
    ///
    /// - Parameter path: `-` is standard output. An existing file is an error.
    init(_ path: String) throws(ReferenceResolver.ReadFailure) {
        self.path = path
        if path == "-" {
            descriptor = STDOUT_FILENO
            return
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let reason = code == EEXIST ? "file exists" : String(cString: strerror(code))
            throw ReferenceResolver.ReadFailure(reason: reason)
        }
    }

    deinit {
        if descriptor != STDOUT_FILENO { close(descriptor) }
    }

    /// Appends a line to the buffer, and writes a full buffer. Returns false if the write fails, or if `isOver`
    /// returned true while the reader was slow.
    func write(_ line: [UInt8], on loop: EventLoop, unless isOver: () -> Bool) async -> Bool {
        buffer += line
        buffer.append(UInt8(ascii: "\n"))
        guard buffer.count >= Self.flushBytes else { return true }
        return await flush(on: loop, unless: isOver)
    }

    /// Writes the remaining lines, and flushes a file to the disk. Returns false on failure, or if `isOver` returned
    /// true while the reader was slow.
    func finish(on loop: EventLoop, unless isOver: () -> Bool) async -> Bool {
        guard await flush(on: loop, unless: isOver) else { return false }
        return descriptor == STDOUT_FILENO || fsync(descriptor) == 0 && syncFolder() || failed()
    }

    /// Flushes the folder, because only this flush writes the name of a new file to the disk.
    private func syncFolder() -> Bool {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    private func flush(on loop: EventLoop, unless isOver: () -> Bool) async -> Bool {
        defer { buffer.removeAll(keepingCapacity: true) }
        if descriptor == STDOUT_FILENO {
            var bytes = buffer
            guard await FileWriter.write(&bytes, to: descriptor, on: loop, unless: isOver) else { return failed() }
        } else {
            guard buffer.withUnsafeBytes({ FileWriter.write($0, to: descriptor) }) else { return failed() }
        }
        return true
    }

    /// Keeps the error number of the call that failed. Returns false.
    private func failed() -> Bool {
        errorNumber = errno
        return false
    }
}
