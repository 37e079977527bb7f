public import EventLoop

/// Receives the events of an ``HTTP2Client``. A base class instead of a protocol, so that an event costs one virtual call.
/// All methods are called on the loop's thread, and may call every method of the client.
open class HTTP2ClientDelegate {
    public init() {}

    /// Called when the connection is up. From now on requests may be sent, one at a time until the peer's SETTINGS.
    open func connected() {}

    /// Called when the peer has sent SETTINGS.
    open func settingsReceived(_ settings: HTTP2Settings) {}

    /// Called at the start of a header block: of an interim response, of the response, or of its trailers.
    open func headersBegan(_ stream: HTTP2Stream) {}

    /// Called with the status of a response. After a status below 200, another one follows.
    open func responseStatus(_ stream: HTTP2Stream, _ status: Int) {}

    /// Called with a header or trailer field. The memory is valid during the call.
    open func responseHeader(_ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {}

    /// Called with a part of the response's body. The memory is valid during the call.
    open func responseBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {}

    /// Called exactly once for each stream. Its slot is free afterwards.
    open func streamEnded(_ stream: HTTP2Stream, _ end: StreamEnd) {}

    /// Called when the peer accepts no more streams. Streams above `lastStreamID` end as `refusedUnprocessed` right after
    /// this call; the others continue. May be called more than once. The peer chooses the debug data freely.
    open func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    open func pingAcknowledged(_ number: UInt64) {}

    /// Called exactly once, when the connection and all its streams have ended. `error` is nil after an orderly close.
    open func closed(_ error: TransportError?) {}
}
