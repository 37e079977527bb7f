/// The progress of sending a request.
public enum RequestProgress: Sendable, Hashable {
    /// A request whose frames are not all created yet. If the stream is reset now, the peer never receives the whole
    /// request.
    case incomplete
    /// A request whose frames are all created, but whose header block the transport has not accepted yet. The frames
    /// will be sent unless the connection ends.
    case buffered
    /// A request of which the transport has accepted at least the header block. The peer may receive the whole
    /// request.
    case written
}
