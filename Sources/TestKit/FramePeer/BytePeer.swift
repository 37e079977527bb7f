public import EventLoop

/// A peer without a protocol. It sends given bytes when connected, and records the received bytes.
public final class BytePeer: ByteStreamHandler {
    public private(set) var transport: ByteTransport?
    public private(set) var received: [UInt8] = []
    public private(set) var isClosed = false
    private let bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    public override func connected(_ transport: ByteTransport) {
        self.transport = transport
        _ = bytes.withUnsafeBytes { transport.write($0) }
    }

    public override func received(_ bytes: UnsafeRawBufferPointer) { received += bytes }

    public override func peerFinished() { transport?.close() }

    public override func closed(_ error: TransportError?) {
        isClosed = true
        transport = nil
    }
}
