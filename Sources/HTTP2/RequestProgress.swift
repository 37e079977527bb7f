/// How much of a request the client has handed to the transport.
public enum RequestProgress: Sendable, Hashable {
    /// The frames of the request are not all made. The rest never leaves if the stream is reset now, so the peer never
    /// receives a whole request.
    case incomplete
    /// All frames are made, and the transport has not taken the first of them. They leave unless the connection ends.
    case buffered
    /// The transport has taken at least the header block: the peer may have the whole request.
    case written
}
