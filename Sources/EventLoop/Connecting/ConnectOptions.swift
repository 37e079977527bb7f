/// Time limits of opening a connection, and the options of its socket.
///
/// Each step has a limit of its own, so that a slow step does not use up the time of the next. The protocol above adds a
/// limit for its own first answer: SETTINGS of APNs, the login at a broker. A `VirtualLoop` honors the time limits only.
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
    /// Sent bytes that the kernel keeps until the peer acknowledges them (`SO_SNDBUF`), from `bufferBytesMin` to
    /// `bufferBytesMax`. nil means that the kernel adapts it. `net.core.wmem_max` is an upper bound.
    public var sendBufferBytes: Int?
    /// Received bytes that the kernel keeps until they are read (`SO_RCVBUF`), with the same limits. nil means that the
    /// kernel adapts it. `net.core.rmem_max` is an upper bound.
    public var receiveBufferBytes: Int?
    /// The local address to connect from. Only addresses of the same IP version are attempted. nil means that the kernel
    /// chooses by its routes.
    public var sourceAddress: SourceAddress?
    /// The traffic class of sent packets, from 0 to `dscpMax`: the differentiated services code point (RFC 2474). nil
    /// means the kernel's default, 0.
    public var dscp: Int?

    /// The least size of a buffer; the kernel's own minimum is about as large.
    public static let bufferBytesMin = 4096
    /// The greatest size of a buffer.
    public static let bufferBytesMax = 64 << 20
    /// The greatest of the 64 code points.
    public static let dscpMax = 63

    public init() {}
}
