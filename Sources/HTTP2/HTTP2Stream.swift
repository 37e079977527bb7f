/// A handle of one request and its response on one connection. Has no effect after the stream has ended.
public struct HTTP2Stream: Sendable, Hashable {
    /// A small number, reused after the stream has ended. An index for a delegate's array of streams.
    public let slot: Int
    /// The stream identifier of the protocol, unique on the connection.
    public let id: Int32
}

/// The end of a client's stream, which determines whether the request may have been processed (RFC 9113, 8.7).
public enum StreamEnd: Sendable, Hashable {
    /// The whole response has arrived.
    case complete
    /// The peer did not process the request: it refused the stream, sent a GOAWAY with a lower stream ID, or never received
    /// the whole request. The request can be sent again safely.
    case refusedUnprocessed
    /// Either side reset the stream, or the stream violated the protocol. The request may have been processed.
    case reset(HTTP2ErrorCode)
    /// The connection ended before the response. The request may have been processed.
    case connectionLost
}
