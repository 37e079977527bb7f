import Glibc

/// A writer to files, pipes and terminals.
package enum FileWriter {
    /// Writes all bytes. Blocks while the reader is slow.
    ///
    /// - Returns: whether all bytes were written.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while let base = rest.baseAddress, rest.count > 0 {
            let written = Glibc.write(descriptor, base, rest.count)
            if written > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            } else if written < 0, errno == EAGAIN {
                // Wait until the descriptor is writable, because another process may have made a shared terminal
                // non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if written == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
