import Glibc

/// A Unix datagram socket, such as a service manager's notification socket.
public final class DatagramReceiver: Sendable {
    private static let bytesMax = 4096
    private let descriptor: Int32

    /// Binds a socket.
    ///
    /// - Parameter path: The path of the socket, or with a leading `@`, a name in the abstract namespace.
    /// - Throws: `ProcessError` if the socket cannot be bound.
    public init(_ path: String) throws(ProcessError) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8).map { $0 == UInt8(ascii: "@") ? 0 : $0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 0) + socklen_t(name.count)
        let isBound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
        guard isBound else { throw ProcessError(errno, "cannot bind a socket to \(path)") }
    }

    deinit { close(descriptor) }

    /// Returns the datagrams received since the last call.
    public func all() -> [String] {
        var texts: [String] = []
        var bytes = [UInt8](repeating: 0, count: Self.bytesMax)
        while case let count = recv(descriptor, &bytes, bytes.count, 0), count >= 0 {
            texts.append(String(decoding: bytes[..<count], as: UTF8.self))
        }
        return texts
    }
}
