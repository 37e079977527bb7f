/// The progress of sending a request.
public enum RequestProgress: Sendable, Hashable {
    /// Frames of the request are not created yet. If the stream is reset now, the peer never receives the whole request.
    case incomplete
    /// All frames are created, but the transport has not accepted the header block yet. The frames will be sent unless the
    /// connection ends.
    case buffered
    /// The transport has accepted at least the header block. The peer may receive the whole request.
    case written
}
