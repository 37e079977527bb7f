import Glibc

/// A local IPv4 or IPv6 address from which connections are opened.
public struct SourceAddress: Sendable, Hashable, CustomStringConvertible {
    /// As it was written.
    public let description: String
    /// With port 0: the kernel chooses one.
    let socketAddress: SocketAddress

    /// nil for anything but an IP address: a name, a port or a network.
    public init?(_ text: String) {
        var octets = in_addr()
        // Elsewhere `127.1` is an address, too.
        guard text.contains(":") || inet_pton(AF_INET, text, &octets) == 1 else { return nil }
        guard let address = Resolver.numeric(Endpoint(host: text, port: 0))?.first else { return nil }
        (description, socketAddress) = (text, address)
    }

    public static func == (left: SourceAddress, right: SourceAddress) -> Bool { left.description == right.description }

    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
