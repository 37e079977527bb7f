import EventLoop
import TestKit
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

    /// The examples of RFC 7541, C.2.1, C.2.3 and C.2.4.
    @Test func fieldsAreWrittenAsInTheStandard() {
        var encoder = HeaderEncoder()
        #expect(
            write(block(("custom-key", "custom-header", .indexed)), &encoder)
                == bytes("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"))
        #expect(
            write(block(("password", "secret", .never)), &encoder)
                == bytes("1008 7061 7373 776f 7264 0673 6563 7265 74"))
        #expect(write(block((":method", "GET", .indexed)), &encoder) == [0x82])
        // The encoder refers to the added entry by name and value, and then only by name.
        #expect(write(block(("custom-key", "custom-header", .indexed)), &encoder) == [0x80 | 62])
        #expect(write(block(("custom-key", "x", .never)), &encoder) == [0x1F, 62 - 15, 1, UInt8(ascii: "x")])
    }

    // The smallest size since the last block precedes the current size (RFC 7541, 4.2, with the integer of C.1.2).
    @Test func theTableFollowsThePeersSize() {
        var encoder = HeaderEncoder()
        encoder.limitTable(to: 4096)
        encoder.limitTable(to: .max)
        let method = block((":method", "POST", .indexed))
        #expect(write(method, &encoder) == [0x83], "an unchanged size was written")
        encoder.limitTable(to: 1337)
        #expect(write(method, &encoder) == [0x3F, 0x9A, 0x0A, 0x83])
        encoder.limitTable(to: 0)
        encoder.limitTable(to: 1337)
        #expect(write(method, &encoder) == [0x20, 0x3F, 0x9A, 0x0A, 0x83])
        #expect(write(method, &encoder) == [0x83])
    }

    // A field may refer to the name of an entry that its insertion evicts (RFC 7541, 4.4).
    @Test func aFieldMayEvictTheEntryOfItsName() {
        var encoder = HeaderEncoder()
        encoder.limitTable(to: 100)
        let value = String(repeating: "v", count: 30)
        _ = write(block(("name", value + "1", .indexed)), &encoder)
        let second = write(block(("name", value + "2", .indexed)), &encoder)
        #expect(second.prefix(2) == [0x40 | 62, 31])
        #expect(write(block(("name", value + "2", .indexed)), &encoder) == [0x80 | 62])
        #expect(write(block(("name", value + "1", .indexed)), &encoder).count > 30, "the entry was not evicted")
        encoder.limitTable(to: 1)
        encoder.limitTable(to: 100)
        #expect(write(block(("name", value + "1", .indexed)), &encoder).prefix(5) == [0x21, 0x3F, 69, 0x40, 4])
    }

    // nghttp2 decodes the blocks. Fields evict each other, and the table size changes repeatedly. Some requests are
    // reset before they are sent.
    @Test(arguments: 1...24 as ClosedRange<UInt64>) func aPeerDecodesTheEncodedBlocks(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let table = [nil, 0, 100, 1000, 65_536][Int(seed % 5)] as UInt32?
        let harness = try Harness(
            seed: seed, serverSettings: HTTP2Settings(maxConcurrentStreams: 1000, headerTableBytes: table),
            clientLimits: HTTP2Limits(outputBytesMax: 2000))
        #expect(harness.open())
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
                let (name, length) = ("name-\(random.below(20))", [0, 3, 30, 300][random.below(4)])
                let value = String(repeating: "v", count: length) + "\(random.below(4))"
                fields.append(name + ": " + value)
                headers.append(name: name, value: value, indexing: random.chance(percent: 30) ? .never : .indexed)
            }
            harness.loop.enter {
                guard let stream = harness.client.client.request(&headers) else { return }
                guard random.chance(percent: 90) else {
                    given += 1
                    return harness.client.client.reset(stream, .cancel)
                }
                sent[stream.id] = fields
            }
            if random.chance(percent: 10) {
                let size = [0, 1, 100, 1000, 4096, .max][random.below(6)] as UInt32
                harness.loop.enter { harness.server.server.update(HTTP2Settings(headerTableBytes: size)) }
            }
            if random.chance(percent: 20) { _ = harness.loop.run(limit: .milliseconds(5), until: { false }) }
        }
        harness.settle()
        #expect(given > 5 && sent.count > 150)
        #expect(harness.server.requests.mapValues(\.headers) == sent)
    }

    // A SETTINGS frame that sets the size to 0 and back empties the peer's table (RFC 7541, 4.2, and RFC 9113,
    // 6.5.3).
    @Test func aTableThatThePeerEmptiedIsEmptiedHere() throws {
        let loop = VirtualLoop(seed: 1)
        let peer = RawPeer(HTTP2Frame.settings().bytes)
        let client = RecordingClient()
        let listener = try loop.enter {
            try loop.listen(on: Harness.endpoint) { transport in
                transport.handler = peer
                peer.connected(transport)
            }
        }
        loop.enter {
            client.client = HTTP2Client(loop: loop, delegate: client)
            _ = loop.connect(to: Harness.endpoint, handler: client.client)
        }
        func settle() { _ = loop.run(limit: .seconds(10), until: { false }) }
        settle()
        for _ in 0..<2 { loop.enter { _ = client.request("/") } }
        settle()
        let headerTableSize: UInt16 = 1
        let twice = HTTP2Frame.settings((headerTableSize, 0), (headerTableSize, 4096))
        loop.enter { twice.bytes.withUnsafeBytes { _ = peer.transport?.write($0) } }
        settle()
        loop.enter { _ = client.request("/") }
        settle()
        let blocks = headerBlocks(in: peer.received.dropFirst(HTTP2Frame.preface.count))
        try #require(blocks.count == 3)
        #expect(blocks[1].contains(0x80 | 62), "the second block does not use the added field")
        #expect(blocks[2].prefix(5) == [0x20, 0x3F, 0xE1, 0x1F, 0x83])
        #expect(!blocks[2].contains(0x80 | 62))
        loop.enter {
            listener.close()
            client.client.abort()
        }
        settle()
    }

    private func headerBlocks(in frames: ArraySlice<UInt8>) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        var rest = frames
        while rest.count >= 9 {
            let length = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            let frame = rest.prefix(9 + length)
            if frame.dropFirst(3).first == 1 { blocks.append(Array(frame.dropFirst(9))) }
            rest = rest.dropFirst(frame.count)
        }
        return blocks
    }
}
