import Glibc

/// The local IPv4 or IPv6 address of outgoing connections.
public struct SourceAddress: Sendable, Hashable, CustomStringConvertible {
    /// The text as configured.
    public let description: String
    /// The address with port 0, so that the kernel chooses the port.
    let socketAddress: SocketAddress

    /// Parses an IP address. Returns nil for other texts, such as a name, a port or a network.
    public init?(_ text: String) {
        var octets = in_addr()
        // getaddrinfo also accepts short forms such as `127.1`.
        guard text.contains(":") || inet_pton(AF_INET, text, &octets) == 1 else { return nil }
        guard let address = Resolver.numeric(Endpoint(host: text, port: 0))?.first else { return nil }
        (description, socketAddress) = (text, address)
    }

    public static func == (left: SourceAddress, right: SourceAddress) -> Bool { left.description == right.description }

    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
