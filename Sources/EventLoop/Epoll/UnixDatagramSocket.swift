import CLinux
import Glibc

/// A socket that sends datagrams to a Unix socket. Any thread may send.
public final class UnixDatagramSocket: Sendable {
    private let descriptor: Int32
    private let address: SocketAddress
    private let path: String

    /// Creates a socket that sends to the socket at `path`, which need not exist yet.
    ///
    /// - Parameter path: the path of the receiving socket, or a name in the abstract namespace with a leading `@`
    ///   (unix(7)).
    /// - Throws: `resources` if the path is empty or too long, or no descriptor is available.
    public init(path: String) throws(TransportError) {
        guard let address = SocketAddress(unix: path) else {
            throw TransportError(.resources, "\(path): the path is empty or too long for a Unix socket")
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TransportError(errno: errno, path) }
        (self.address, self.path) = (address, path)
    }

    deinit { close(descriptor) }

    /// Sends a datagram without blocking.
    ///
    /// - Throws: if the receiver's buffer is full, or the datagram cannot be sent.
    public func send(_ text: String) throws(TransportError) {
        let bytes = Array(text.utf8)
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        let sent = address.withPointer { sendto(descriptor, bytes, bytes.count, flags, $0, $1) }
        guard sent == bytes.count else { throw TransportError(errno: errno, path) }
    }
}
