import EventLoop
import Testing

@testable import HTTP2

@Suite struct HeaderEncoderTests {
    private func block(_ fields: (String, String, HeaderBlock.Indexing)...) -> HeaderBlock {
        var block = HeaderBlock()
        for (name, value, indexing) in fields { block.append(name: name, value: value, indexing: indexing) }
        return block
    }

    private func write(_ block: HeaderBlock, _ encoder: inout HeaderEncoder) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: HeaderEncoder.bytesMax(of: block)) { space, count in
            count = encoder.write(block, to: UnsafeMutableRawBufferPointer(space))
        }
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// RFC 7541, C.2.1, C.2.3 and C.2.4.
    @Test func fieldsAreWrittenAsInTheStandard() {
        var encoder = HeaderEncoder()
        #expect(
            write(block(("custom-key", "custom-header", .indexed)), &encoder)
                == bytes("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"))
        #expect(
            write(block(("password", "secret", .never)), &encoder)
                == bytes("1008 7061 7373 776f 7264 0673 6563 7265 74"))
        #expect(write(block((":method", "GET", .indexed)), &encoder) == [0x82])
        // What was added, whole and by its name.
        #expect(write(block(("custom-key", "custom-header", .indexed)), &encoder) == [0x80 | 62])
        #expect(write(block(("custom-key", "x", .never)), &encoder) == [0x1F, 62 - 15, 1, UInt8(ascii: "x")])
    }

    /// RFC 7541, 4.2, with the integer of C.1.2: the smallest size since the last block, then the one that holds.
    @Test func theTableIsAsSmallAsThePeerSays() {
        var encoder = HeaderEncoder()
        encoder.limitTable(to: 4096)
        encoder.limitTable(to: .max)
        let method = block((":method", "POST", .indexed))
        #expect(write(method, &encoder) == [0x83], "nothing has changed")
        encoder.limitTable(to: 1337)
        #expect(write(method, &encoder) == [0x3F, 0x9A, 0x0A, 0x83])
        encoder.limitTable(to: 0)
        encoder.limitTable(to: 1337)
        #expect(write(method, &encoder) == [0x20, 0x3F, 0x9A, 0x0A, 0x83])
        #expect(write(method, &encoder) == [0x83])
    }

    /// Against nghttp2's decoder: fields that push each other out of the table, tables of several sizes, requests that
    /// are given up before they leave, and a connection that takes no more for a while.
    @Test(arguments: 1...24 as ClosedRange<UInt64>) func aPeerReadsWhatWasWritten(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let table = [nil, 0, 100, 1000, 65_536][Int(seed % 5)] as UInt32?
        let rig = try Rig(
            seed: seed, serverSettings: HTTP2Settings(maxConcurrentStreams: 1000, headerTableBytes: table),
            clientLimits: HTTP2Limits(outputBytesMax: 2000))
        #expect(rig.open())
        var sent: [Int32: [String]] = [:]
        var given = 0
        for _ in 0..<200 {
            var headers = HeaderBlock()
            var fields = [":method: POST", ":scheme: https", ":path: /", ":authority: server"]
            for field in fields {
                let parts = field.split(separator: ": ").map(String.init)
                headers.append(name: parts[0], value: parts[1], indexing: parts[0] == ":path" ? .never : .indexed)
            }
            for _ in 0..<random.below(10) {
                let (name, length) = ("name-\(random.below(20))", [3, 30, 300][random.below(3)])
                let value = String(repeating: "v", count: length) + "\(random.below(4))"
                fields.append(name + ": " + value)
                headers.append(name: name, value: value, indexing: random.chance(percent: 30) ? .never : .indexed)
            }
            rig.loop.enter {
                guard let stream = rig.client.client.request(&headers) else { return }
                guard random.chance(percent: 90) else {
                    given += 1
                    return rig.client.client.reset(stream, .cancel)
                }
                sent[stream.id] = fields
            }
            if random.chance(percent: 20) { _ = rig.loop.run(limit: .milliseconds(5), until: { false }) }
        }
        rig.settle()
        #expect(given > 5 && sent.count > 150)
        #expect(rig.server.requests.mapValues(\.headers) == sent)
    }
}
