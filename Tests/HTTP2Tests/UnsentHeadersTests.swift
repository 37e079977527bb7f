import EventLoop
import Testing

@testable import HTTP2

@Suite struct UnsentHeadersTests {
    private func block(_ number: Int32) -> HeaderBlock {
        var block = HeaderBlock()
        block.append("number", Int64(number))
        return block
    }

    private func consumed(_ streamID: Int32, _ unsent: inout UnsentHeaders) -> [UInt8] {
        var bytes: [UInt8] = []
        unsent.consume(streamID: streamID) { bytes = $0.bytes }
        return bytes
    }

    /// Skips some requests, as if they were reset. The storage is filled, moved and emptied.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func eachRequestIsSentWithItsHeaders(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var unsent = UnsentHeaders()
        var waiting: [Int32] = []
        var next: Int32 = 1
        for _ in 0..<2000 {
            for _ in 0..<random.below(random.chance(percent: 2) ? 200 : 4) {
                var block = block(next)
                unsent.add(&block, streamID: next)
                #expect(block.count == 0)
                waiting.append(next)
                next += 2
            }
            for _ in 0..<random.below(5) where !waiting.isEmpty {
                let place = random.chance(percent: 80) ? 0 : random.below(waiting.count)
                #expect(consumed(waiting[place], &unsent) == Array("\(waiting[place])".utf8))
                waiting.removeFirst(place + 1)
            }
            if random.chance(percent: 1) {
                unsent.removeAll()
                waiting = []
            }
        }
    }

    // The function returns nil for an incomplete frame header and for a frame of another type.
    @Test func onlyACompleteHeadersFrameHasAStreamID() {
        let frame: [UInt8] = [0, 0, 0, 1, 4, 0, 0, 0, 7]
        frame.withUnsafeBytes { bytes in
            #expect(HeadersFrame.streamID(of: bytes) == 7)
            for count in 0..<frame.count {
                #expect(HeadersFrame.streamID(of: UnsafeRawBufferPointer(rebasing: bytes[..<count])) == nil)
            }
        }
        let data: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 0, 7]
        #expect(data.withUnsafeBytes { HeadersFrame.streamID(of: $0) } == nil)
    }
}
