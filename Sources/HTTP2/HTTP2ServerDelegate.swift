public import EventLoop

/// How a new stream stands to the number of streams that the server has announced.
public enum StreamExcess: Sendable, Hashable {
    case none
    /// Above what was announced last, but the client has not acknowledged that yet.
    case unacknowledged
    /// Above what the client has acknowledged.
    case acknowledged
}

/// What a server's events go to: a base class, so that an event costs one virtual call. All calls come on the loop; every
/// method of the server may be called from them. A delegate serves one connection.
open class HTTP2ServerDelegate {
    public init() {}

    /// Whether ``requestHeader(_:name:value:representation:)`` is told all of a field's representation, which costs a
    /// look at each byte before the values; asked once, when the server is made.
    open var wantsHeaderRepresentations: Bool { false }

    open func connected() {}

    /// The client has begun as HTTP/2 wants it: its preface and first SETTINGS have come.
    open func clientBegan() {}

    /// The client has acknowledged the oldest settings that it had not yet.
    open func settingsAcknowledged() {}

    /// A request begins.
    open func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {}

    /// A header or trailer field, in the order of the wire; the memory is valid during the call.
    open func requestHeader(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation
    ) {}

    /// A field that makes its request malformed (RFC 9113, 8.2.1 and 8.3): the stream is reset with PROTOCOL_ERROR. It may
    /// be told a second time.
    ///
    /// - Parameter value: nil where it may be something that nobody may see.
    open func requestHeaderMalformed(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?
    ) {}

    /// The stream was reset with PROTOCOL_ERROR because its request is malformed (RFC 9113, 8.1.1).
    open func requestMalformed(_ stream: HTTP2Stream) {}

    /// Part of the body; the memory is valid during the call. How much of it is kept is the delegate's matter.
    open func requestBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {}

    /// The whole request has come.
    open func requestEnded(_ stream: HTTP2Stream) {}

    /// The stream has ended, with `noError` after a whole answer; its slot is free afterwards. Called exactly once for
    /// each that began, unless the connection ends first.
    open func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {}

    open func pingAcknowledged(_ number: UInt64) {}

    open func goAwayReceived(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    /// The connection has ended, and with it all of its streams; nil when it was closed in order. Called exactly once.
    open func closed(_ error: TransportError?) {}
}
