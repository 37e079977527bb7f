import CLinux
import Glibc

/// Sends datagrams to a Unix socket. From any thread.
public final class UnixDatagramSocket: Sendable {
    private let descriptor: Int32
    private let address: SocketAddress
    private let path: String

    /// - Parameter path: of the socket that receives them; with `@` before it, in the abstract namespace (unix(7)).
    /// - Throws: `resources` when the path is too long, or the process out of descriptors.
    public init(path: String) throws(TransportError) {
        guard let address = SocketAddress(unix: path) else {
            throw TransportError(.resources, "\(path): longer than the path of a Unix socket may be")
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TransportError(errno: errno, path) }
        (self.address, self.path) = (address, path)
    }

    deinit { close(descriptor) }

    /// At once or not at all: it never waits for the receiver.
    public func send(_ text: String) throws(TransportError) {
        let bytes = Array(text.utf8)
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        let sent = address.withPointer { sendto(descriptor, bytes, bytes.count, flags, $0, $1) }
        guard sent == bytes.count else { throw TransportError(errno: errno, path) }
    }
}
