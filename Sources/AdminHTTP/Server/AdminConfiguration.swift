/// What an admin endpoint takes and how much of it.
public struct AdminConfiguration: Sendable {
    /// What this host may be called in a `Host` header besides `localhost`, `127.0.0.1` and `[::1]`; without port.
    public var hostNames: [String] = []
    /// Whether it answers whatever it is called: behind names and addresses that it cannot know. Somebody who has made it
    /// listen beyond loopback has decided who may reach it.
    public var answersAnyHost = false
    /// Connections at once. One more closes the connection that has waited longest for its client.
    public var connectionsMax = 128
    /// Connections of one host at once. One more closes that host's connection that has waited longest for its client.
    public var connectionsPerHostMax = 64
    /// How long a client may take to send the head of its first request, counted from the connect.
    public var headSecondsMax = 5
    /// Requests that wait for their answer at once; more are refused with 503.
    public var pendingMax = 64
    /// Memory of a connection: request line and headers have to fit into it. Those that do not are refused with 431.
    public var connectionBytesMax = 32 * 1024
    /// A body; a larger one is refused with 413.
    public var bodyBytesMax = 1024 * 1024
    /// The bodies and answers of all connections together; what does not fit is refused with 503.
    public var bytesHeldMax = 64 * 1024 * 1024
    /// How long a client may take to send a body, to read an answer, and to send the next request.
    public var transferSecondsMax = 30

    public init() {}
}
