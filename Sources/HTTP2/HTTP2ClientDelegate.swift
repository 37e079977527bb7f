public import EventLoop

/// The base class of the receivers of an ``HTTP2Client``'s events. Each event costs one virtual call. All methods are
/// called on the loop's thread, and may call every method of the client.
open class HTTP2ClientDelegate {
    public init() {}

    /// Handles the opening of the connection. From now on requests may be sent, one at a time until the peer's SETTINGS
    /// arrive.
    open func connected() {}

    /// Handles SETTINGS of the peer.
    open func settingsReceived(_ settings: HTTP2Settings) {}

    /// Handles the start of a header block of an interim response, of the response, or of its trailers.
    open func headersBegan(_ stream: HTTP2Stream) {}

    /// Handles the status of a response. After a status below 200, another status follows, unless the stream ends.
    open func responseStatus(_ stream: HTTP2Stream, _ status: Int) {}

    /// Handles a header or trailer field. The memory is valid during the call.
    open func responseHeader(_ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {}

    /// Handles a part of the response's body. The memory is valid during the call.
    open func responseBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {}

    /// Handles the end of a stream, exactly once for each stream. The slot of the stream is already free, so a request
    /// that is sent during this call may reuse the slot.
    open func streamEnded(_ stream: HTTP2Stream, _ end: StreamEnd) {}

    /// Handles a GOAWAY of the peer, which accepts no more streams. Streams above `lastStreamID` end right after this
    /// call, as `refusedUnprocessed` unless a response has begun. The other streams continue. The method may be called
    /// more than once. The peer chooses the debug data freely.
    open func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    open func pingAcknowledged(_ number: UInt64) {}

    /// Handles the end of the connection, exactly once. All its streams have ended before. `error` is nil after an
    /// orderly close.
    open func closed(_ error: TransportError?) {}
}
