/// Receives the bytes and events of a byte stream. A base class, so an event costs one virtual call.
///
/// Every method is called on the loop's thread.
open class ByteStreamHandler {
    /// Whether `flush()` is due at the end of this iteration.
    final var isAwaitingFlush = false

    public init() {}

    /// The stream is open in both directions; over TLS, after the handshake.
    open func connected(_ transport: ByteTransport) {}

    /// Bytes from the peer. The handler must consume all of them; the memory is valid during the call only.
    open func received(_ bytes: UnsafeRawBufferPointer) {}

    /// The transport accepts bytes again after `write` accepted only a part.
    open func writable() {}

    /// The peer will send no more. The handler closes the stream once it has nothing left to send.
    open func peerFinished() {}

    /// The stream has ended; `error` is nil after `close()`. Called once, as the last call, and never from inside a
    /// call of the handler to the transport.
    open func closed(_ error: TransportError?) {}

    /// Writes the collected bytes. Called once at the end of an iteration in which `flushAfterIteration` was called.
    open func flush() {}
}
