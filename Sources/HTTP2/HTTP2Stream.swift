/// A handle of one request and its response on one connection. The handle has no effect after the stream has ended.
public struct HTTP2Stream: Sendable, Hashable {
    /// A small number, reused after the stream has ended. A delegate may use the slot as an index of an array.
    public let slot: Int
    /// The stream identifier of the protocol, unique on the connection.
    public let id: Int32
}

/// The end of a client's stream, which determines whether the request may have been processed (RFC 9113, 8.7).
public enum StreamEnd: Sendable, Hashable {
    /// A stream whose whole response has arrived.
    case complete
    /// A request that the peer did not process. The peer refused the stream, sent a GOAWAY with a lower stream ID, or
    /// never received the whole request. The request can be sent again safely.
    case refusedUnprocessed
    /// A reset by either side, or a protocol violation on the stream. The request may have been processed.
    case reset(HTTP2ErrorCode)
    /// The end of the connection before the end of the response. The request may have been processed.
    case connectionLost
}
