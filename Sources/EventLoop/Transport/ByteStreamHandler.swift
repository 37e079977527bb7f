/// The base class of the receivers of the bytes and events of a byte stream. Each event costs one virtual call.
///
/// Every method is called on the loop's thread.
open class ByteStreamHandler {
    /// Whether a requested `flush()` is still due.
    final var isAwaitingFlush = false

    public init() {}

    /// Handles the opening of the stream in both directions. Over TLS, the call follows the handshake.
    open func connected(_ transport: ByteTransport) {}

    /// Handles bytes from the peer. The handler must consume all bytes. The memory is valid during the call only.
    open func received(_ bytes: UnsafeRawBufferPointer) {}

    /// Handles free space in the transport, after `write` accepted only a part of the bytes.
    open func writable() {}

    /// Handles the end of the peer's bytes. The handler closes the stream once it has nothing left to send.
    open func peerFinished() {}

    /// Handles the end of the stream. `error` is nil if this side closed or reset the stream without an error. The loop
    /// calls this method once, unless the loop ends earlier, and never from inside a call of the handler to the
    /// transport. Only a `flush()` that was requested earlier may follow.
    open func closed(_ error: TransportError?) {}

    /// Writes the collected bytes. The loop calls this method after `EventLoop.flushAfterIteration` requested the call.
    open func flush() {}
}
