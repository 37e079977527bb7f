/// The limits and trusted names of an admin endpoint.
public struct AdminConfiguration: Sendable {
    /// Accepted names in a `Host` header, without port, besides `localhost`, `127.0.0.1` and `[::1]`.
    public var hostNames: [String] = []
    /// Whether the endpoint accepts any `Host` header, for names and addresses that it cannot know. An operator who
    /// lets it listen beyond loopback decides who may reach it.
    public var answersAnyHost = false
    /// Maximum simultaneous connections. A further one closes the connection that has waited longest for its client.
    public var connectionsMax = 128
    /// Maximum simultaneous connections of one host. A further one closes the host's connection that has waited longest
    /// for its client.
    public var connectionsPerHostMax = 64
    /// Maximum time for the head of the first request, counted from the connect.
    public var headSecondsMax = 5
    /// Maximum requests with a pending answer; further ones are refused with 503.
    public var pendingMax = 64
    /// Memory of a connection. The request line and headers must fit, otherwise the request is refused with 431.
    public var connectionBytesMax = 32 * 1024
    /// Maximum bytes of a body; a larger one is refused with 413.
    public var bodyBytesMax = 1024 * 1024
    /// Maximum bytes of the bodies and answers of all connections; a request beyond it is refused with 503.
    public var bytesHeldMax = 64 * 1024 * 1024
    /// Maximum time to send a body, to read an answer, and to send the next request.
    public var transferSecondsMax = 30

    public init() {}
}
