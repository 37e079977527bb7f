import CommandKit
import EventLoop
import Glibc

extension FileWriter {
    /// What a pipe that takes anything takes at once (`PIPE_BUF`).
    private static let pipeBytes = 4096
    private static let lookMilliseconds = 10

    /// An empty file that says by being there that something has happened. A file that is there gets a new time and keeps
    /// its contents. A symbolic link is refused: another user may have put it there.
    static func create(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
        // A FIFO without a reader cannot be opened without waiting, and can have a new time.
        guard descriptor >= 0 else {
            return errno == ENXIO && utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0
        }
        defer { close(descriptor) }
        return futimens(descriptor, nil) == 0
    }

    /// Writes all of it to a pipe or terminal whose reader may take its time, in which the loop turns on.
    ///
    /// - Parameters:
    ///   - bytes: afterwards what was not written for want of a reason to wait; nothing when it cannot be written.
    ///   - isOver: asked while it waits.
    /// - Returns: false when it cannot be written, or there is no more reason to wait.
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
                await loop.sleep(for: .milliseconds(lookMilliseconds))
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
