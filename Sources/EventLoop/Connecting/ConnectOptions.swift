/// Time limits for opening a connection, and the options of its socket.
///
/// Each step has a separate limit, so a slow step does not shorten the next step. The application protocol adds a limit
/// for the first answer, such as APNs' SETTINGS or the login at a broker. A `VirtualLoop` applies only
/// `connectSecondsMax`.
public struct ConnectOptions: Sendable, Hashable {
    /// Limit for resolving the host name. The name service may need 5 s to skip a dead name server.
    public var resolveSecondsMax = 10
    /// Limit for connecting over TCP, all addresses together.
    public var connectSecondsMax = 8
    /// Limit for the TLS handshake, which begins when the TCP connection is open.
    public var handshakeSecondsMax = 8
    /// Time after which unacknowledged sent bytes end the connection (`TCP_USER_TIMEOUT`).
    public var userTimeoutSeconds = 60
    /// Idle time before the first keepalive probe (`TCP_KEEPIDLE`). The interval between probes is the same, but at
    /// most 75 s (`TCP_KEEPINTVL`). nil keeps the kernel's defaults, usually 7200 s and 75 s.
    public var keepaliveSeconds: Int?
    /// Size of the kernel's send buffer (`SO_SNDBUF`), from `bufferBytesMin` to `bufferBytesMax`. nil lets the kernel
    /// adapt the size. `net.core.wmem_max` is an upper bound.
    public var sendBufferBytes: Int?
    /// Size of the kernel's receive buffer (`SO_RCVBUF`), with the same limits. nil lets the kernel adapt the size.
    /// `net.core.rmem_max` is an upper bound.
    public var receiveBufferBytes: Int?
    /// The local address to connect from. Only remote addresses of the same IP version are attempted. nil lets the
    /// kernel choose the address.
    public var sourceAddress: SourceAddress?
    /// The differentiated services code point of sent packets (RFC 2474), from 0 to `dscpMax`. nil keeps the kernel's
    /// default, 0.
    public var dscp: Int?

    /// The minimum configurable size of a buffer.
    public static let bufferBytesMin = 4096
    /// The maximum configurable size of a buffer.
    public static let bufferBytesMax = 64 << 20
    /// The highest of the 64 code points.
    public static let dscpMax = 63

    public init() {}
}
