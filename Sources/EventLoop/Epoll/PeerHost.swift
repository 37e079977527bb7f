import Glibc

/// The host at the other end of a connected socket, to count what one host does. An IPv6 host is its network of 64 bits,
/// since it may choose any address in it; an IPv4 address within IPv6 is the IPv4 address.
public struct PeerHost: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Returns nil for a Unix socket, and for a socket that is not connected.
    public init?(_ descriptor: Int32) {
        guard let address = SocketAddress.peer(of: descriptor) else { return nil }
        self.init(addressBytes: address.hostBytes)
    }

    /// - Parameter addressBytes: four or sixteen, in network order.
    init?(addressBytes bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12] == [0xFF, 0xFF]
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16: self.bytes = Array(isMapped ? bytes[12...] : bytes[..<8])
        default: return nil
        }
    }
}
