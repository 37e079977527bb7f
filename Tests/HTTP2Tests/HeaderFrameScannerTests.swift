import EventLoop
import Testing

@testable import HTTP2

private let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

@Suite struct HeaderFrameScannerTests {
    private static let block: [UInt8] = [0x82, 0x40, 0x01, 0x61, 0x01, 0x62, 0x10, 0x01, 0x61, 0x81, 0x1F]
    private static let expected = "indexed name, incremental, never huffman"

    @Test func findsTheBlockOfAHeadersFrame() {
        #expect(read(frame(1, 0x4, stream: 1, Self.block), streams: [1]) == [Self.expected])
    }

    @Test func skipsPaddingAndPriority() {
        let priority: [UInt8] = [0x80, 0, 0, 3, 16]
        let padding: [UInt8] = [0x82, 0x82, 0x82]
        #expect(read(frame(1, 0xC, stream: 1, [3] + Self.block + padding), streams: [1]) == [Self.expected])
        #expect(read(frame(1, 0x24, stream: 1, priority + Self.block), streams: [1]) == [Self.expected])
        #expect(read(frame(1, 0x2C, stream: 1, [3] + priority + Self.block + padding), streams: [1]) == [Self.expected])
        #expect(read(frame(1, 0xC, stream: 1, [0] + Self.block), streams: [1]) == [Self.expected])
        let nothingElse = frame(1, 0x20, stream: 1, priority) + frame(9, 0x4, stream: 1, Self.block)
        #expect(read(nothingElse, streams: [1]) == [Self.expected])
    }

    @Test func continuesInContinuationFrames() {
        for cut in 0...Self.block.count {
            let parts =
                frame(1, 0x8, stream: 5, [2] + Self.block[..<cut] + [0, 0]) + frame(9, 0, stream: 5, [])
                + frame(9, 0x4, stream: 5, Array(Self.block[cut...]))
            #expect(
                read(parts + frame(1, 0x5, stream: 7, [0x83]), streams: [5, 7]) == [Self.expected, "indexed name"])
        }
    }

    @Test func skipsOtherFrames() {
        let frames =
            frame(4, 0, stream: 0, [0, 3, 0, 0, 0, 1]) + frame(1, 0x4, stream: 1, Self.block)
            + frame(0, 0x1, stream: 1, [UInt8](repeating: 0x82, count: 1000)) + frame(6, 0, stream: 0, Self.block)
            + frame(1, 0x5, stream: 3, [0x82])
        #expect(read(frames, streams: [1, 3]) == [Self.expected, "indexed name"])
    }

    @Test func skipsUnreportedBlocks() {
        let frames =
            frame(1, 0x5, stream: 1, [0x83]) + frame(1, 0x5, stream: 3, Self.block)
            + frame(1, 0x5, stream: 5, [0x82, 0x82])
        #expect(read(frames, streams: [3]) == [Self.expected])
        #expect(read(frames, streams: [5]) == ["indexed name, indexed name"])
        #expect(read(frames, streams: [7]) == [""])
    }

    @Test func anInterruptedHeaderBlockStopsTheScan() {
        for wrong in [frame(0, 0, stream: 1, [1]), frame(1, 4, stream: 1, [0x83]), frame(9, 4, stream: 3, [0x83])] {
            #expect(read(frame(1, 0, stream: 1, [0x82]) + wrong, streams: [1]) == ["indexed name"])
        }
        #expect(read(frame(9, 4, stream: 1, [0x82]), streams: [1]) == [""])
        #expect(
            read(frame(1, 0xC, stream: 1, [5, 0x82]), streams: [1]) == [""],
            "a frame with too much padding was accepted")
        #expect(
            read(frame(1, 0x2C, stream: 1, [5, 0x82]), streams: [1]) == [""],
            "a frame that is too short for a priority was accepted")
    }

    // nghttp2 reports a block once its prefix is complete, which may be in a later part.
    @Test(arguments: [true, false]) func aBlockContinuesInTheNextPart(isReportedImmediately: Bool) {
        let first = preface + frame(1, 0x5, stream: 1, [0x83, 0x83])
        let headers = frame(1, 0x24, stream: 3, [0, 0, 0, 0, 16] + Self.block)
        for cut in 9..<headers.count {
            var scanner = HeaderFrameScanner()
            var texts: [String] = []
            scan(&scanner, first + headers[..<cut]) { scanner in
                scanner.blockBegan(streamID: 1)
                while scanner.next() != nil {}
                guard isReportedImmediately else { return }
                scanner.blockBegan(streamID: 3)
                while let field = scanner.next() { texts.append(representationText(field)) }
            }
            scan(&scanner, headers[cut...] + frame(1, 0x5, stream: 5, [0x82])) { scanner in
                if !isReportedImmediately {
                    #expect(scanner.next() == nil)
                    scanner.blockBegan(streamID: 3)
                }
                while texts.count < 3, let field = scanner.next() { texts.append(representationText(field)) }
                scanner.blockBegan(streamID: 5)
                while let field = scanner.next() { texts.append(representationText(field)) }
            }
            #expect(
                texts.joined(separator: ", ") == Self.expected + ", indexed name",
                "a block cut at \(cut) was read wrongly")
        }
    }

    @Test func anUnknownBlockHasNoFieldsInTheNextPart() {
        var scanner = HeaderFrameScanner()
        scan(&scanner, preface + frame(1, 0, stream: 1, [0x82])) { scanner in
            scanner.blockBegan(streamID: 1)
            scanner.blockBegan(streamID: 3)
            #expect(scanner.next() == nil)
        }
        scan(&scanner, frame(9, 4, stream: 1, [0x82])) { scanner in #expect(scanner.next() == nil) }
    }

    @Test func noFieldIsReturnedBeforeItsBlockBegan() {
        var scanner = HeaderFrameScanner()
        scan(&scanner, preface + frame(1, 0x5, stream: 1, [0x82])) { scanner in #expect(scanner.next() == nil) }
    }

    @Test func limitsTheFieldsOfABlock() {
        var scanner = HeaderFrameScanner()
        var reported = 0
        scan(&scanner, preface)
        for part in 0..<10 {
            let fields = [UInt8](repeating: 0x82, count: 1000)
            scan(&scanner, frame(part == 0 ? 1 : 9, 0, stream: 1, fields)) { scanner in
                if part == 0 { scanner.blockBegan(streamID: 1) }
                for _ in 0..<1000 where scanner.next() != nil { reported += 1 }
            }
        }
        #expect(reported == HeaderFrameScanner.fieldsPerBlockMax)
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func anyBytesInAnyParts(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bytes = preface
        for _ in 0..<30 {
            let payload = (0..<random.below(40)).map { _ in
                UInt8(random.chance(percent: 70) ? random.below(16) : random.below(256))
            }
            let type = UInt8(random.chance(percent: 80) ? [1, 9, 0][random.below(3)] : random.below(12))
            bytes += frame(type, UInt8(random.below(64)), stream: UInt32(random.below(4)), payload)
        }
        if random.chance(percent: 50) { bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8)) }
        var scanner = HeaderFrameScanner()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(1 + random.below(60)))
            rest = rest.dropFirst(piece.count)
            scan(&scanner, piece) { scanner in
                for _ in 0..<random.below(4) {
                    scanner.blockBegan(streamID: Int32(random.below(5)))
                    for _ in 0..<random.below(20) { _ = scanner.next() }
                }
            }
        }
    }

    /// Returns the representations in the blocks of `streams`, one text for each stream.
    private func read(_ frames: [UInt8], streams: [Int32]) -> [String] {
        var scanner = HeaderFrameScanner()
        var texts: [String] = []
        scan(&scanner, preface + frames) { scanner in
            for stream in streams {
                scanner.blockBegan(streamID: stream)
                var fields: [String] = []
                while let field = scanner.next() { fields.append(representationText(field)) }
                texts.append(fields.joined(separator: ", "))
            }
        }
        return texts
    }

    private func scan(
        _ scanner: inout HeaderFrameScanner, _ piece: [UInt8], _ report: (inout HeaderFrameScanner) -> Void = { _ in }
    ) {
        piece.withUnsafeBytes { scanner.scan($0) }
        report(&scanner)
        scanner.pieceEnded()
    }

    private func frame(_ type: UInt8, _ flags: UInt8, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) } + payload
    }
}

/// The scanner between Martlet's encoder and nghttp2's decoder.
@Suite struct HeaderRepresentationTests {
    private typealias Field = (name: String, value: String, isNever: Bool)

    @Test(arguments: [false, true]) func reportsTheRepresentationsOfTheClient(byteByByte: Bool) throws {
        let harness = try Harness(wrap: { byteByByte ? ByteByByte($0) : $0 })
        #expect(harness.open())
        let first = try #require(send(harness, [("apns-topic", "com.example.app", false), ("apns-id", "1", true)]))
        harness.settle()
        let second = try #require(send(harness, [("apns-topic", "com.example.app", false), ("apns-id", "2", true)]))
        harness.settle()
        #expect(
            harness.server.requests[first.id]?.representations.map(representationText) == [
                "indexed name", "indexed name", "never name", "incremental name", "never name", "incremental",
                "never",
            ])
        #expect(
            harness.server.requests[second.id]?.representations.map(representationText) == [
                "indexed name", "indexed name", "never name", "indexed name", "never name", "indexed name", "never",
            ])
    }

    @Test func discardsCompletedRequests() throws {
        let harness = try Harness()
        #expect(harness.open())
        for _ in 0..<3 { #expect(send(harness, []) != nil) }
        harness.settle()
        #expect(harness.client.ended == 3)
        #expect(harness.server.server.scanner?.fields.isEmpty == true)
    }

    @Test func respectsATableOfZeroBytes() throws {
        let harness = try Harness(serverSettings: HTTP2Settings(maxConcurrentStreams: 10, headerTableBytes: 0))
        #expect(harness.open())
        harness.settle()
        for _ in 0..<2 {
            let stream = try #require(send(harness, [("apns-topic", "com.example.app", false)]))
            harness.settle()
            let seen = try #require(harness.server.requests[stream.id]?.representations.map(representationText))
            #expect(seen.last == "without")
            #expect(!seen[3...].contains("indexed name"))
        }
    }

    // A field that is never indexed stays literal. Each other field is added at its first use and indexed later. The
    // table is large enough for all fields.
    @Test(arguments: 1...30 as ClosedRange<UInt64>) func agreesWithTheEncoder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let harness = try Harness(
            seed: seed, serverLimits: HTTP2Limits(streamsMax: 3),
            onRequest: { server, stream in
                // Some streams stay open, so other streams are refused.
                if stream.id % 10 != 1 { server.server.respond(stream, status: 200) }
            })
        #expect(harness.open())
        var table: Set<String> = []
        var isAuthorityKnown = false
        for _ in 0..<40 {
            var fields: [Field] = []
            for _ in 0..<random.below(12) {
                let value = String(repeating: "v", count: random.below(5))
                fields.append(("name-\(random.below(6))", value, random.chance(percent: 30)))
            }
            let stream = harness.loop.enter { send(harness, fields) }
            if random.chance(percent: 50) { _ = harness.loop.run(limit: .milliseconds(5), until: { false }) }
            guard let stream else { continue }
            var expected: [HeaderRepresentation.Form] = [.indexed, .indexed, .neverIndexed]
            expected += [isAuthorityKnown ? .indexed : .incremental, .neverIndexed]
            isAuthorityKnown = true
            for field in fields {
                if field.isNever {
                    expected.append(.neverIndexed)
                } else if table.insert("\(field.name): \(field.value)").inserted {
                    expected.append(.incremental)
                } else {
                    expected.append(.indexed)
                }
            }
            harness.settle()
            // The server has no request for a stream that exceeded the limit.
            guard let request = harness.server.requests[stream.id] else { continue }
            #expect(request.representations.map(\.form) == expected)
        }
    }

    private func send(_ harness: Harness, _ fields: [Field]) -> HTTP2Stream? {
        var headers = HeaderBlock()
        headers.append(":method", "POST")
        headers.append(":scheme", "https")
        headers.append(":path", Array("/3/device/0123".utf8), indexing: .never)
        headers.append(":authority", "server")
        headers.append("authorization", Array("bearer x".utf8), indexing: .never)
        for field in fields {
            headers.append(name: field.name, value: field.value, indexing: field.isNever ? .never : .indexed)
        }
        return harness.loop.isOnLoop
            ? harness.client.client.request(&headers) : harness.loop.enter { harness.client.client.request(&headers) }
    }
}
