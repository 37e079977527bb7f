/// One request and its response on one connection. Using it after the stream has ended does nothing.
public struct HTTP2Stream: Sendable, Hashable {
    /// A small number, used again after the stream has ended: the index for a delegate's own array of streams.
    public let slot: Int
    /// The stream identifier of the protocol; never used again on this connection.
    public let id: Int32
}

/// How a stream of a client ended, by what is known of the request's fate (RFC 9113, 8.7).
public enum StreamEnd: Sendable, Hashable {
    /// The whole response has arrived.
    case complete
    /// The peer did not process the request: it was refused, is above the last stream of a GOAWAY, or was never
    /// written. It can be sent again without being done twice.
    case refusedUnprocessed
    /// The stream was reset by the peer or by us, or broke the protocol; the request may have been processed.
    case reset(HTTP2ErrorCode)
    /// The connection ended first; the request may have been processed.
    case connectionLost
}
