/// Time limits of opening a connection, and how TCP checks that the peer is still there.
///
/// Each step has a limit of its own, so that a slow step does not use up the time of the next. The protocol above adds a
/// limit for its own first answer: SETTINGS of APNs, the login at a broker.
public struct ConnectOptions: Sendable, Hashable {
    /// Finding the addresses of the host name. The name service may need 5 s to pass over a dead name server.
    public var resolveSecondsMax = 10
    /// Connecting over TCP, all addresses together.
    public var connectSecondsMax = 8
    /// The TLS handshake, from the open TCP connection.
    public var handshakeSecondsMax = 8
    /// Sent bytes that stay unacknowledged for so long end the connection (`TCP_USER_TIMEOUT`).
    public var userTimeoutSeconds = 60
    /// An idle connection is probed after so long, and at most as long between two probes (`TCP_KEEPIDLE`,
    /// `TCP_KEEPINTVL`). nil means the kernel's own times, 7200 s and 75 s by default.
    public var keepaliveSeconds: Int?

    public init() {}
}
