/// A stream of bytes to a peer, over TCP, over TLS, or in memory on virtual time.
///
/// The owner that opened or accepted the stream must close or reset it. The loop keeps the stream alive until `closed`
/// was delivered.
open class ByteTransport {
    public final let loop: EventLoop
    /// The receiver of the events, released when `closed` is delivered.
    public final var handler: ByteStreamHandler?

    public init(loop: EventLoop, handler: ByteStreamHandler?) {
        self.loop = loop
        self.handler = handler
    }

    /// The peer's address without port, in 4 or 16 bytes in network order. Empty if the stream is not connected, or if
    /// the peer has no address, as on virtual time.
    open var peerAddress: [UInt8] { [] }

    /// Writes as many of `bytes` as fit and returns their number. The caller keeps the remaining bytes until
    /// `writable()`.
    open func write(_ bytes: UnsafeRawBufferPointer) -> Int { 0 }

    /// Stops `received` until `resumeReading()`. Flow control then stops the peer.
    open func pauseReading() {}

    open func resumeReading() {}

    /// Shuts down the sending direction after the accepted bytes are sent. The peer may continue to send.
    open func finishWriting() {}

    /// Closes the stream after the accepted bytes are sent. `closed` follows.
    open func close() {}

    /// Closes the stream immediately and discards unsent bytes. `closed` follows.
    open func reset() {}
}
