import EventLoop
import Testing

@testable import HTTP2

/// Windows, limits, and peers that violate them.
@Suite struct LimitTests {
    /// Sends bodies that are larger than the windows, in both directions.
    @Test func smallWindowsLoseNothing() throws {
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let harness = try Harness(
            serverSettings: HTTP2Settings(maxConcurrentStreams: 10, initialWindowBytes: 1000),
            clientLimits: HTTP2Limits(responseBodyBytesMax: 1_000_000, outputBytesMax: 500),
            serverLimits: HTTP2Limits(outputBytesMax: 500, connectionWindowBytes: 70_000),
            onRequest: { server, stream in
                server.server.respond(stream, status: 200, body: server.requests[stream.id]?.body ?? [])
            })
        #expect(harness.open())
        let streams = (0..<5).compactMap { _ in harness.request(body: body) }
        #expect(harness.run(until: { harness.client.ended == 5 }) == .done)
        for stream in streams {
            #expect(harness.client.responses[stream.id]?.body == body)
            #expect(harness.client.responses[stream.id]?.end == .complete)
        }
    }

    // These resets exceed nghttp2's own rate limit, which does not use virtual time.
    @Test func resetsAfterAWaitAreNotAFlood() throws {
        let harness = try Harness(onRequest: { _, _ in })
        #expect(harness.open())
        for _ in 0..<3 {
            let streams = (0..<500).compactMap { _ in harness.request() }
            harness.loop.enter { _ = harness.loop.schedule(after: .seconds(2)) {} }
            harness.settle()
            harness.loop.enter { for stream in streams { harness.client.client.reset(stream, .cancel) } }
            harness.settle()
        }
        #expect(harness.server.requests.count == 1500)
        #expect(harness.server.closes.isEmpty)
    }

    @Test func anIncompleteAnswerEarnsNoBudget() throws {
        let harness = try Harness(
            serverLimits: HTTP2Limits(idleFramesMax: 100, idleFramesPerSecondMax: 1),
            onRequest: { server, stream in
                server.server.respond(stream, status: 200, body: [UInt8](repeating: 1, count: 200_000))
            })
        #expect(harness.open())
        for _ in 0..<10 {
            guard let stream = harness.request() else { break }
            _ = harness.run(until: { harness.client.responses[stream.id]?.status == 200 })
            harness.loop.enter { harness.client.client.reset(stream, .cancel) }
            _ = harness.run(until: { harness.server.requests[stream.id]?.closed != nil })
        }
        harness.settle()
        #expect(harness.client.goAways.map(\.code) == [.enhanceYourCalm])
    }

    /// Frames of answered requests are not idle traffic, even in large bursts.
    @Test func answersEarnTheBudgetOfTheirRequests() throws {
        let harness = try Harness(serverLimits: HTTP2Limits(idleFramesMax: 60, idleFramesPerSecondMax: 1))
        #expect(harness.open())
        for count in 1...100 {
            try #require(harness.request(body: [1, 2, 3]) != nil)
            try #require(harness.run(until: { harness.client.ended == count }) == .done)
        }
        #expect(harness.client.responses.values.allSatisfy { $0.end == .complete })
    }

    @Test(arguments: [1, 100]) func aResponseBodyIsKeptUpToItsLimit(limit: Int) throws {
        let harness = try Harness(
            clientLimits: HTTP2Limits(responseBodyBytesMax: limit),
            onRequest: { server, stream in
                server.server.respond(stream, status: 500, body: [UInt8](repeating: 9, count: 200_000))
            })
        #expect(harness.open())
        let stream = try #require(harness.request())
        #expect(harness.run(until: { harness.client.ended == 1 }) == .done)
        #expect(
            harness.client.responses[stream.id]
                == RecordingClient.Response(
                    headerBlocks: 1, status: 500, body: [UInt8](repeating: 9, count: limit), end: .complete))
    }

    @Test func aResponsesHeadersAreKeptUpToTheirLimit() throws {
        let harness = try Harness(
            clientLimits: HTTP2Limits(headerBytesMax: 9 * 105),
            onRequest: { server, stream in
                var headers = HeaderBlock()
                for number in 0..<20 {
                    headers.append("field", [UInt8](repeating: UInt8(ascii: "a") + UInt8(number), count: 100))
                }
                server.server.respond(stream, status: 200, headers: headers)
            })
        #expect(harness.open())
        let stream = try #require(harness.request())
        #expect(harness.run(until: { harness.client.ended == 1 }) == .done)
        #expect(harness.client.responses[stream.id]?.headers.count == 9)
        #expect(harness.client.responses[stream.id]?.end == .complete)
    }

    @Test func aRequestWithTooManyHeaderBytesIsReset() throws {
        var completed: [Int32] = []
        let harness = try Harness(
            serverLimits: HTTP2Limits(headerBytesMax: 1000),
            onRequest: { server, stream in
                completed.append(stream.id)
                server.server.respond(stream, status: 200)
            })
        #expect(harness.open())
        // All other names and values add up to 47 bytes.
        let longest = "/" + String(repeating: "a", count: 1000 - 47 - ":path".utf8.count - 1)
        harness.request(longest + "a")
        harness.request(longest)
        #expect(harness.run(until: { harness.client.ended == 2 }) == .done)
        #expect(harness.client.responses[1]?.end == .reset(.enhanceYourCalm))
        #expect(harness.client.responses[3]?.end == .complete)
        #expect(completed == [3])
    }

    @Test func aHeaderBlockThatIsLargerThanAFrameIsNotSent() throws {
        let harness = try Harness(serverLimits: HTTP2Limits(headerBytesMax: 20_000))
        #expect(harness.open())
        var shortest = HeaderBlock()
        for (name, value) in [(":method", "POST"), (":scheme", "https"), (":path", ""), (":authority", "server")] {
            shortest.append(name: name, value: value)
        }
        shortest.append("number", 42)
        let longest = HeadersFrame.blockBytesMax - HeaderEncoder.bytesMax(of: shortest)
        harness.request(String(repeating: "/", count: longest + 1))
        harness.request(String(repeating: "/", count: longest))
        #expect(harness.run(until: { harness.client.ended == 2 }) == .done)
        #expect(harness.client.responses[1]?.end == .refusedUnprocessed)
        #expect(harness.client.responses[3]?.end == .complete)
    }

    @Test func theServerRefusesStreamsAboveItsOwnLimit() throws {
        let harness = try Harness(
            serverSettings: HTTP2Settings(), serverLimits: HTTP2Limits(streamsMax: 5), onRequest: { _, _ in })
        #expect(harness.open())
        for _ in 0..<8 { harness.request() }
        #expect(harness.run(until: { harness.client.ended == 3 }) == .done)
        #expect(harness.client.responses.values.allSatisfy { $0.end == .refusedUnprocessed })
        #expect(harness.server.requests.count == 5)
    }

    /// The client sends many requests and stops reading. The server then stops reading and, after a minute, disconnects
    /// the client. The output that the server stores exceeds the limit by at most one frame.
    @Test func aClientThatDoesNotReadIsDisconnected() throws {
        let harness = try Harness(
            serverSettings: HTTP2Settings(maxConcurrentStreams: 4000),
            serverLimits: HTTP2Limits(outputBytesMax: 20_000),
            onRequest: { server, stream in
                server.server.respond(stream, status: 200, body: [UInt8](repeating: 1, count: 1000))
            }, wrap: { $0 is HTTP2Client ? Deaf($0) : $0 })
        #expect(harness.run(until: { harness.client.client.isOpen }) == .done)
        #expect(harness.open())
        for _ in 0..<2000 { harness.request() }
        _ = harness.loop.run(limit: .seconds(59), until: { false })
        #expect(harness.client.ended == 0)
        #expect(harness.server.server.pendingOutputBytes <= 20_000 + 16_500)
        #expect(harness.server.requests.count <= 2000)
        harness.settle()
        #expect(harness.server.closes.count == 1)
    }

    // The peer cannot have processed requests that are still in the output buffer.
    @Test func unwrittenRequestsAreUnprocessed() throws {
        let harness = try Harness(wrap: { $0 is HTTP2Server ? Deaf($0) : $0 })
        #expect(harness.open())
        for _ in 0..<20 { harness.request("/" + String(repeating: "a", count: 12_000)) }
        harness.settle()
        #expect(harness.client.client.pendingOutputBytes > 50_000)
        harness.loop.enter { harness.client.client.abort() }
        harness.settle()
        let ends = harness.client.responses.sorted { $0.key < $1.key }.map(\.value.end)
        #expect(ends.count == 20)
        #expect(ends.first == .connectionLost)
        #expect(ends.last == .refusedUnprocessed)
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "", "\0\0\0\0\0\0\0\0\0\0\0\0", String(repeating: "\u{FF}", count: 100),
    ])
    func aServerWithoutHTTP2IsAnError(bytes: String) throws {
        let harness = BareHarness()
        let client = RecordingClient()
        let peer = RawPeer(Array(bytes.utf8))
        try harness.connect(client, to: peer)
        let ending = harness.loop.run(limit: .seconds(60), until: { !client.closes.isEmpty && peer.hasClosed })
        if bytes.isEmpty {
            #expect(ending == .idle, "the client set a timeout")
        } else {
            #expect(client.closes.first??.code == .protocolViolation)
            #expect(peer.received.contains(7), "the client sent no GOAWAY (frame type 7)")
        }
    }

    @Test func aClientWithoutHTTP2IsAnError() throws {
        let harness = BareHarness()
        let server = ScriptedServer { _, _ in }
        let peer = RawPeer(Array("GET / HTTP/1.1\r\nHost: server\r\n\r\n".utf8))
        try harness.connect(peer, to: server)
        #expect(harness.loop.run(limit: .seconds(60), until: { !server.closes.isEmpty && peer.hasClosed }) == .done)
        #expect(server.closes[0]?.code == .protocolViolation)
    }

    /// The acknowledgments of 3,000 PINGs exceed the limit of pending acknowledgments.
    @Test func aFloodEndsTheConnection() throws {
        let harness = BareHarness()
        harness.loop.network.wholePiecesPercent = 100
        let server = ScriptedServer { _, _ in }
        let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let flood =
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings
            + (0..<3000).flatMap { _ in ping }
        let peer = RawPeer(flood)
        try harness.connect(peer, to: server)
        #expect(harness.loop.run(limit: .seconds(60), until: { !server.closes.isEmpty }) == .done)
        #expect(server.closes[0]?.code == .protocolViolation)
    }
}

/// A handler that reads its peer's first bytes, then nothing.
private final class Deaf: ByteStreamHandler {
    private let inner: ByteStreamHandler
    private var transport: ByteTransport?

    init(_ inner: ByteStreamHandler) { self.inner = inner }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
        inner.connected(transport)
    }
    override func received(_ bytes: UnsafeRawBufferPointer) {
        inner.received(bytes)
        transport?.pauseReading()
    }
    override func writable() { inner.writable() }
    override func peerFinished() { inner.peerFinished() }
    override func closed(_ error: TransportError?) { inner.closed(error) }
}
