/// The reason why an admin endpoint closed a connection. Idle connections that had an answer are not counted.
public enum AdminClosing: String, Sendable, CaseIterable {
    /// The client did not send a request, or read the answer, in time.
    case late
    /// The endpoint was full, and this connection had waited longest for its client to send a request or read an answer.
    case full
    /// The client's address had too many connections, and this one had waited longest for its client.
    case address

    /// Whether another client took the connection's place.
    public var isDisplaced: Bool { self != .late }
}
