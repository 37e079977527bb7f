/// The reason why an admin endpoint closed a connection. The timeout of an idle connection or of a client that is gone
/// is not reported.
public enum AdminClosing: String, Sendable, CaseIterable {
    /// A client that did not send a request or read the answer in time.
    case late
    /// A full endpoint. The closed connection had usually waited longest for its client to send a request or read an
    /// answer.
    case full
    /// Too many connections of the client's address. The closed connection had usually waited longest for its client.
    case address

    /// Whether the connection was closed in favor of another client.
    public var isDisplaced: Bool { self != .late }
}
