/// A stream of bytes to a peer: TCP, TLS over another, or in memory on virtual time.
///
/// Whoever opened or accepted it closes or resets it; until `closed` was delivered the loop keeps it alive.
open class ByteTransport {
    public final let loop: EventLoop
    /// Receives the events; let go after `closed` was delivered.
    public final var handler: ByteStreamHandler?

    public init(loop: EventLoop, handler: ByteStreamHandler?) {
        self.loop = loop
        self.handler = handler
    }

    /// The other end's address in the network's order of bytes, 4 or 16 of them, without its port; empty when there is
    /// none, as on virtual time.
    open var peerAddress: [UInt8] { [] }

    /// Takes as many of `bytes` as there is room for and returns their number. When that is fewer than given, the
    /// caller keeps the rest until `writable()`.
    open func write(_ bytes: UnsafeRawBufferPointer) -> Int { 0 }

    /// No more `received` until `resumeReading()`; the peer is held up by flow control.
    open func pauseReading() {}

    open func resumeReading() {}

    /// Ends this side's direction after what was taken; the peer may go on sending.
    open func finishWriting() {}

    /// Ends the stream after what was taken; `closed(nil)` follows.
    open func close() {}

    /// Ends the stream at once, without waiting for what was taken; `closed` follows.
    open func reset() {}
}
