public import EventLoop

/// The excess of a new stream over the stream limit that the server has announced.
public enum StreamExcess: Sendable, Hashable {
    case none
    /// A stream that exceeds the announced limit, but no limit that the client has acknowledged.
    case unacknowledged
    /// A stream that exceeds both the announced limit and the last acknowledged limit.
    case acknowledged
}

/// The base class of the receivers of an ``HTTP2Server``'s events. Each event costs one virtual call. All methods are
/// called on the loop's thread, and may call every method of the server. A delegate serves one connection.
open class HTTP2ServerDelegate {
    public init() {}

    /// Whether ``requestHeader(_:name:value:representation:)`` receives complete representations, for which the server
    /// scans the header frames. The property is read once, when the server is created.
    open var wantsHeaderRepresentations: Bool { false }

    open func connected() {}

    /// Handles the arrival of the client's preface and first SETTINGS.
    open func prefaceReceived() {}

    /// Handles the client's acknowledgment of the oldest unacknowledged settings.
    open func settingsAcknowledged() {}

    open func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {}

    /// Handles a header or trailer field, in the order of the wire. The memory is valid during the call.
    open func requestHeader(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation
    ) {}

    /// Handles a field that makes its request malformed (RFC 9113, 8.2 and 8.3). The stream is reset with
    /// PROTOCOL_ERROR. The method may be called twice for the same field.
    ///
    /// - Parameter value: nil if the field is known only from nghttp2's error text, and the value may be a secret.
    open func requestHeaderMalformed(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?
    ) {}

    /// Handles the reset of a stream with PROTOCOL_ERROR because its request is malformed (RFC 9113, 8.1.1).
    open func requestMalformed(_ stream: HTTP2Stream) {}

    /// Handles a part of the body. The memory is valid during the call. The server does not limit the body.
    open func requestBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {}

    /// Handles the end of a request that has arrived completely.
    open func requestEnded(_ stream: HTTP2Stream) {}

    /// Handles the end of a stream, exactly once for each stream unless the connection ends first. `code` is `noError`
    /// after a complete response. The slot is already free.
    open func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {}

    open func pingAcknowledged(_ number: UInt64) {}

    open func goAwayReceived(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    /// Handles the end of the connection and of all its streams, exactly once. `error` is nil after an orderly close.
    open func closed(_ error: TransportError?) {}
}
