import Testing

@testable import EventLoop

@Suite struct OutputBufferTests {
    /// A transport that accepts a limited number of bytes.
    private final class LimitedTransport: ByteTransport {
        var written: [UInt8] = []
        var allowance = 0

        override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
            let count = min(allowance, bytes.count)
            written += bytes.prefix(count)
            allowance -= count
            return count
        }
    }

    @Test func bytesAreWrittenInOrderInSmallParts() {
        let transport = LimitedTransport(loop: VirtualLoop(seed: 0), handler: nil)
        var buffer = OutputBuffer(bytesMax: 1000, initialCapacity: 1)
        var random = SeededRandom(seed: 5)
        var appended: [UInt8] = []
        for round in 0..<2_000 {
            let piece = (0..<random.below(300)).map { UInt8(truncatingIfNeeded: $0 &+ round) }
            if !buffer.isFull {
                piece.withUnsafeBytes { buffer.append($0) }
                appended += piece
            }
            transport.allowance = random.below(400)
            _ = buffer.write(to: transport)
            #expect(buffer.count < 1300)
        }
        transport.allowance = .max
        let isDrained = buffer.write(to: transport)
        #expect(isDrained)
        #expect(transport.written == appended)
    }
}
