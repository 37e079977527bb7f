/// The limits and trusted names of an admin endpoint.
public struct AdminConfiguration: Sendable {
    /// Accepted names in a `Host` header, without port, besides the listening address, `localhost`, `127.0.0.1` and
    /// `[::1]`.
    public var hostNames: [String] = []
    /// Whether the endpoint accepts any `Host` header. Beyond loopback, clients may use names and addresses that the
    /// process cannot know. The operator controls which clients can connect.
    public var answersAnyHost = false
    /// Maximum simultaneous connections. A further connection displaces another one, usually the connection that has
    /// waited longest for its client.
    public var connectionsMax = 128
    /// Maximum simultaneous connections of one host. A further connection of the host displaces another one of the
    /// host, usually the connection that has waited longest for its client.
    public var connectionsPerHostMax = 64
    /// Maximum time for the head of the first request, counted from the connect. A smaller `transferSecondsMax` applies
    /// instead.
    public var headSecondsMax = 5
    /// Maximum requests with a pending answer. Further requests are refused with 503.
    public var pendingMax = 64
    /// Memory of a connection, in bytes. A request line that does not fit is refused with 414, and headers that do not
    /// fit are refused with 431.
    public var connectionBytesMax = 32 * 1024
    /// Maximum bytes of a body. A larger body is refused with 413.
    public var bodyBytesMax = 1024 * 1024
    /// Maximum total bytes of the bodies and answers of all connections. A request whose body or answer would exceed
    /// the limit is answered with 503.
    public var bytesHeldMax = 64 * 1024 * 1024
    /// Maximum time to send a body, to read an answer, or to send the next request.
    public var transferSecondsMax = 30

    public init() {}
}
