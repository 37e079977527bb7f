import CommandKit
import EventLoop
import Glibc

extension FileWriter {
    /// Number of bytes that a writable pipe accepts without blocking (`PIPE_BUF`).
    private static let pipeBytes = 4096
    private static let pollMilliseconds = 10

    /// Creates an empty file whose existence signals an event. An existing file keeps its contents and gets a new
    /// time. Refuses a symbolic link, since another user may have created it. Returns false on failure.
    static func create(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
        // A FIFO without a reader cannot be opened without blocking, but its time can be set.
        guard descriptor >= 0 else {
            return errno == ENXIO && utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0
        }
        defer { close(descriptor) }
        return futimens(descriptor, nil) == 0
    }

    /// Writes all bytes to a pipe or terminal. The loop continues while the reader is slow.
    ///
    /// - Parameters:
    ///   - bytes: the bytes to write; on return, the unwritten bytes if `isOver` ended the wait, otherwise empty.
    ///   - isOver: called repeatedly during the wait; true ends the wait.
    /// - Returns: false after an error, or if `isOver` returned true.
    static func write(
        _ bytes: inout [UInt8], to descriptor: Int32, on loop: EventLoop, unless isOver: () -> Bool
    ) async -> Bool {
        var written = 0
        while written < bytes.count {
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if poll(&room, 1, 0) == 0 {
                guard !isOver() else {
                    bytes.removeFirst(written)
                    return false
                }
                await loop.sleep(for: .milliseconds(pollMilliseconds))
                continue
            }
            let piece = bytes[written...].prefix(pipeBytes)
            guard piece.withUnsafeBytes({ write($0, to: descriptor) }) else {
                bytes = []
                return false
            }
            written += piece.count
        }
        bytes = []
        return true
    }
}
