public import EventLoop

/// Whether a new stream exceeds the stream limit that the server has announced.
public enum StreamExcess: Sendable, Hashable {
    case none
    /// The stream exceeds the announced limit, which the client has not acknowledged yet.
    case unacknowledged
    /// The stream exceeds the limit that the client has acknowledged.
    case acknowledged
}

/// Receives the events of an ``HTTP2Server``. A base class instead of a protocol, so that an event costs one virtual call.
/// All methods are called on the loop's thread, and may call every method of the server. A delegate serves one connection.
open class HTTP2ServerDelegate {
    public init() {}

    /// Whether ``requestHeader(_:name:value:representation:)`` receives complete representations, for which the server
    /// scans the header frames. Read once, when the server is created.
    open var wantsHeaderRepresentations: Bool { false }

    open func connected() {}

    /// Called when the client's preface and first SETTINGS have arrived.
    open func prefaceReceived() {}

    /// Called when the client has acknowledged the oldest unacknowledged settings.
    open func settingsAcknowledged() {}

    /// Called at the start of a request.
    open func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {}

    /// Called with a header or trailer field, in the order of the wire. The memory is valid during the call.
    open func requestHeader(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation
    ) {}

    /// Called with a field that makes its request malformed (RFC 9113, 8.2.1 and 8.3). The stream is reset with
    /// PROTOCOL_ERROR. May be called twice for the same field.
    ///
    /// - Parameter value: nil if the value may be a secret.
    open func requestHeaderMalformed(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?
    ) {}

    /// Called when a stream was reset with PROTOCOL_ERROR, since its request is malformed (RFC 9113, 8.1.1).
    open func requestMalformed(_ stream: HTTP2Stream) {}

    /// Called with a part of the body. The memory is valid during the call. The server does not limit the body.
    open func requestBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {}

    /// Called when the whole request has arrived.
    open func requestEnded(_ stream: HTTP2Stream) {}

    /// Called exactly once for each stream, unless the connection ends first. `code` is `noError` after a complete response.
    /// The slot is free afterwards.
    open func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {}

    open func pingAcknowledged(_ number: UInt64) {}

    open func goAwayReceived(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    /// Called exactly once, when the connection and all its streams have ended. `error` is nil after an orderly close.
    open func closed(_ error: TransportError?) {}
}
