import Glibc

/// The process at the other end of a Unix socket.
enum UnixPeer {
    /// The members of `struct ucred` in `sys/socket.h`, which Glibc's module lacks.
    private struct Credentials {
        var processID: Int32 = 0
        var userID: UInt32 = 0
        var groupID: UInt32 = 0
    }

    /// Returns the user ID of the process that connected; nil if the descriptor is no connected Unix socket.
    static func userID(_ descriptor: Int32) -> UInt32? {
        var credentials = Credentials()
        var size = socklen_t(MemoryLayout<Credentials>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0,
            size == MemoryLayout<Credentials>.size, credentials.processID > 0
        else { return nil }
        return credentials.userID
    }
}
