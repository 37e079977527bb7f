import Glibc

/// The host of a connected socket's peer, for limits per host. For IPv6, the host is the /64 network of the address,
/// because a peer may use any address in its network. An IPv4-mapped address counts as the IPv4 address.
public struct PeerHost: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Reads the peer of a socket. Returns nil for a Unix socket, and for a socket that is not connected.
    public init?(_ descriptor: Int32) {
        guard let address = SocketAddress.peer(of: descriptor) else { return nil }
        self.init(addressBytes: address.hostBytes)
    }

    /// Creates the host of an IP address. Returns nil if the number of bytes is wrong.
    ///
    /// - Parameter addressBytes: 4 or 16 bytes, in network order.
    init?(addressBytes bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12] == [0xFF, 0xFF]
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16: self.bytes = Array(isMapped ? bytes[12...] : bytes[..<8])
        default: return nil
        }
    }
}
