/// What a byte stream's bytes and events go to. A base class, so that a stream costs one virtual call an event.
///
/// Every method is called on the loop's thread.
open class ByteStreamHandler {
    /// Whether `flush()` is due at the end of this turn.
    final var isAwaitingFlush = false

    public init() {}

    /// The stream is open in both directions; over TLS, after the handshake.
    open func connected(_ transport: ByteTransport) {}

    /// Bytes from the peer. All must be taken; the memory is valid during the call only.
    open func received(_ bytes: UnsafeRawBufferPointer) {}

    /// There is room again after `write` took less than it was given.
    open func writable() {}

    /// The peer will send no more; the handler closes the stream when it has nothing left to send.
    open func peerFinished() {}

    /// The stream has ended: `nil` after `close()`, else why. Called once, as the last, never from inside a call that
    /// the handler makes.
    open func closed(_ error: TransportError?) {}

    /// Writes out what has gathered; called once at the end of a turn in which `flushAfterIteration` was asked for.
    open func flush() {}
}
