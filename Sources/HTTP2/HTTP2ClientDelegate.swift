public import EventLoop

/// What a client's events go to: a base class, so that an event costs one virtual call. All calls come on the loop; every
/// method of the client may be called from them.
open class HTTP2ClientDelegate {
    public init() {}

    /// The connection is up. Requests may be sent from here on, one at a time until the peer's SETTINGS have come.
    open func connected() {}

    /// The peer has announced or changed its settings.
    open func settingsReceived(_ settings: HTTP2Settings) {}

    /// A header block of a response begins to come: of an interim one, of the response itself, or its trailers.
    open func headersBegan(_ stream: HTTP2Stream) {}

    /// The status of the response. Statuses below 200 are followed by another.
    open func responseStatus(_ stream: HTTP2Stream, _ status: Int) {}

    /// A header or trailer field; the memory is valid during the call.
    open func responseHeader(_ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {}

    /// Part of the response's body; the memory is valid during the call.
    open func responseBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {}

    /// Called exactly once for each stream; its slot is free afterwards.
    open func streamEnded(_ stream: HTTP2Stream, _ end: StreamEnd) {}

    /// The peer takes no more streams. Those above `lastStreamID` end as `refusedUnprocessed` right after this call, the
    /// others go on. May come more than once. The debug data is whatever the peer wrote.
    open func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    open func pingAcknowledged(_ number: UInt64) {}

    /// The connection has ended, after every stream has; nil when it was closed in order. Called exactly once.
    open func closed(_ error: TransportError?) {}
}
