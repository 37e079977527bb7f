public import EventLoop

/// The address of a PostgreSQL server.
public enum PostgresHost: Sendable, Hashable, CustomStringConvertible {
    /// A host name or numeric address, and a port.
    case tcp(Endpoint)
    /// The folder of a Unix socket, and the port in the socket's name.
    case socket(directory: String, port: UInt16)

    /// Whether connections to the host stay on this machine.
    public var isLocal: Bool {
        switch self {
        case .socket: true
        case .tcp(let endpoint): Self.isLoopback(endpoint.host)
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    public var description: String {
        switch self {
        case .tcp(let endpoint): endpoint.description
        case .socket(let directory, let port): "\(directory)/.s.PGSQL.\(port)"
        }
    }
}
