/// The servers of one database, and the settings of connections to them.
public struct PostgresEndpointList: Sendable, Hashable {
    /// The transport security of connections. Weaker values of `sslmode` are not supported, since they do not verify
    /// the server's identity.
    public enum Security: Sendable, Hashable {
        /// No TLS, which is permitted only for servers on this machine.
        case none
        /// TLS that verifies the server's name and certificate (`sslmode=verify-full`). The PEM file contains the
        /// trusted certificate authorities.
        case verifyFull(rootCertificate: String)
    }

    /// Maximum number of hosts of a list.
    public static let hostsMax = 16

    /// From 1 to `hostsMax` hosts, in the order of the first attempts.
    public let hosts: [PostgresHost]
    public let user: String
    public let database: String
    public let security: Security

    /// Creates a list.
    ///
    /// - Throws: ``PostgresError`` of code `invalidURL` if `hosts` is empty or has more than `hostsMax` hosts. Also if
    ///   `user` or `database` is empty. Also if `security` is `none` and a host is on another machine.
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
