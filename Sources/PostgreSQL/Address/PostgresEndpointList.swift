/// The servers of one database, and how to connect to them.
public struct PostgresEndpointList: Sendable, Hashable {
    /// How connections are protected. There is nothing between: a weaker mode of TLS does not identify the server.
    public enum Security: Sendable, Hashable {
        /// No TLS. Only for servers on this machine.
        case none
        /// TLS with the server's name in a certificate of an authority in this PEM file (`sslmode=verify-full`).
        case verifyFull(rootCertificate: String)
    }

    /// Maximum hosts of a list.
    public static let hostsMax = 16

    /// In the order of the attempts: at least one, at most `hostsMax`.
    public let hosts: [PostgresHost]
    public let user: String
    public let database: String
    public let security: Security

    /// - Throws: ``PostgresError`` of code `invalidURL` if there is no host, or more than `hostsMax`; if user or
    ///   database is empty; or if a host on another machine has no TLS.
    public init(
        hosts: [PostgresHost], user: String, database: String, security: Security
    ) throws(PostgresError) {
        guard !hosts.isEmpty else { throw PostgresError(.invalidURL, "the PostgreSQL URL has no host") }
        guard hosts.count <= Self.hostsMax else {
            throw PostgresError(.invalidURL, "the PostgreSQL URL has more than \(Self.hostsMax) hosts")
        }
        guard !user.isEmpty, !database.isEmpty else {
            throw PostgresError(.invalidURL, "the PostgreSQL URL has no user or no database")
        }
        if security == .none, let host = hosts.first(where: { !$0.isLocal }) {
            throw PostgresError(
                .invalidURL,
                "the PostgreSQL URL disables TLS for \(host), which is not on this machine; use "
                    + "sslmode=verify-full")
        }
        self.hosts = hosts
        self.user = user
        self.database = database
        self.security = security
    }
}
