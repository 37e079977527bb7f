import EventLoop

/// A transport that stores all bytes written to it.
final class ByteSink: ByteTransport {
    private(set) var bytes: [UInt8] = []

    override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        self.bytes += bytes
        return bytes.count
    }
}
