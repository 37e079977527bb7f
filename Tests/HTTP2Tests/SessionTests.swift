import EventLoop
import Testing

@testable import HTTP2

/// `HTTP2Client` against `HTTP2Server`.
@Suite struct SessionTests {
    @Test func requestsAndResponsesArriveUnchanged() throws {
        let harness = try Harness { server, stream in
            var headers = HeaderBlock()
            headers.append("apns-id", "abc")
            server.server.respond(stream, status: 400, headers: headers, body: Array("{\"reason\":\"x\"}".utf8))
        }
        #expect(harness.open())
        let stream = try #require(harness.request("/3/device/00ff", body: Array("--payload--".utf8), range: 2..<9))
        #expect(harness.run(until: { harness.client.ended == 1 }) == .done)
        #expect(
            harness.client.responses[stream.id]
                == RecordingClient.Response(
                    headerBlocks: 1, status: 400, headers: ["apns-id: abc"], body: Array("{\"reason\":\"x\"}".utf8),
                    end: .complete))
        let request = try #require(harness.server.requests[stream.id])
        #expect(
            request.headers == [
                ":method: POST", ":scheme: https", ":path: /3/device/00ff", ":authority: server", "number: 42",
            ])
        #expect(request.neverIndexed == [":path"])
        #expect(request.body == Array("payload".utf8))
        #expect(request.closed == .noError)
    }

    @Test func anEmptyBodyEndsTheStreamWithItsHeaders() throws {
        let harness = try Harness()
        #expect(harness.open())
        let stream = try #require(harness.request(body: [1, 2, 3], range: 1..<1))
        #expect(harness.run(until: { harness.client.ended == 1 }) == .done)
        #expect(harness.server.requests[stream.id]?.body == [])
        #expect(
            harness.client.responses[stream.id]
                == RecordingClient.Response(headerBlocks: 1, status: 200, end: .complete))
    }

    /// Each answer contains the request's body, to detect mix-ups. Slots are reused.
    @Test(arguments: [false, true]) func thousandsOfRequestsAtOnce(byteByByte: Bool) throws {
        let total = byteByByte ? 500 : 5_000
        let harness = try Harness(
            serverSettings: HTTP2Settings(maxConcurrentStreams: 300),
            onRequest: { server, stream in
                server.server.respond(stream, status: 200, body: server.requests[stream.id]?.body ?? [])
            }, wrap: { byteByByte ? ByteByByte($0) : $0 })
        #expect(harness.open())
        var sent = 0
        var slotsMax = 0
        var bodies: [Int32: [UInt8]] = [:]
        func fill() {
            while sent < total {
                let body = Array("body \(sent) ".utf8) + [UInt8](repeating: 7, count: sent % 700)
                guard let stream = harness.client.request("/\(sent)", body: body) else { break }
                bodies[stream.id] = body
                slotsMax = max(slotsMax, stream.slot)
                sent += 1
            }
        }
        harness.client.onEnd = { _, _ in fill() }
        harness.loop.enter { fill() }
        #expect(sent == 300)
        #expect(harness.run(until: { harness.client.ended == total }) == .done)
        #expect(slotsMax < 301)
        for (id, response) in harness.client.responses {
            #expect(response.status == 200 && response.end == .complete && response.body == bodies[id])
        }
        #expect(harness.client.client.openStreams == 0)
        harness.client.onEnd = { _, _ in }
    }

    @Test func oneStreamUntilTheSettingsThenTheirLimit() throws {
        let harness = try Harness(serverSettings: HTTP2Settings(maxConcurrentStreams: 3), onRequest: { _, _ in })
        #expect(harness.request() == nil, "a request was sent before the connection")
        #expect(harness.run(until: { harness.client.client.isOpen }) == .done)
        #expect(harness.client.settings.isEmpty)
        #expect(harness.client.connections == 1)
        #expect(harness.request() != nil)
        #expect(harness.request() == nil)
        #expect(harness.run(until: { !harness.client.settings.isEmpty }) == .done)
        #expect(
            harness.client.settings == [
                HTTP2Settings(
                    maxConcurrentStreams: 3, initialWindowBytes: 65_535, headerTableBytes: 4096)
            ])
        #expect(harness.request() != nil)
        #expect(harness.request() != nil)
        #expect(harness.request() == nil)
    }

    @Test func settingsWithoutAStreamLimitKeepTheLocalLimit() throws {
        let harness = try Harness(
            serverSettings: HTTP2Settings(), clientLimits: HTTP2Limits(streamsMax: 7), onRequest: { _, _ in })
        #expect(harness.open())
        #expect(harness.client.settings.first?.maxConcurrentStreams == nil)
        #expect(harness.client.client.streamsFree == 7)
    }

    @Test func theStreamLimitChangesDuringTheConnection() throws {
        let harness = try Harness(serverSettings: HTTP2Settings(maxConcurrentStreams: 4), onRequest: { _, _ in })
        #expect(harness.open())
        let streams = (0..<4).map { _ in harness.request() }
        #expect(harness.run(until: { harness.server.requests.count == 4 }) == .done)
        harness.loop.enter { harness.server.server.update(HTTP2Settings(maxConcurrentStreams: 1)) }
        #expect(harness.run(until: { harness.server.acknowledgments == 2 }) == .done)
        #expect(harness.server.server.acknowledgedStreamsMax == 1)
        #expect(harness.client.client.streamsFree == 0)
        harness.loop.enter { for stream in streams.compacted() { harness.server.server.respond(stream, status: 200) } }
        #expect(harness.run(until: { harness.client.ended == 4 }) == .done)
        #expect(harness.client.client.streamsFree == 1)
        harness.loop.enter { harness.server.server.update(HTTP2Settings(maxConcurrentStreams: 900)) }
        #expect(harness.run(until: { harness.client.client.streamsFree == 900 }) == .done)
    }

    @Test func theServerReportsStreamsAboveTheAnnouncedLimit() throws {
        let harness = try Harness(serverSettings: HTTP2Settings(maxConcurrentStreams: 3), onRequest: { _, _ in })
        #expect(harness.run(until: { harness.servers.first?.acknowledgments == 1 }) == .done)
        harness.loop.enter {
            // The limit decreases while three requests are in flight.
            for _ in 0..<3 { _ = harness.client.request("/") }
            harness.server.server.update(HTTP2Settings(maxConcurrentStreams: 1))
        }
        #expect(harness.run(until: { harness.server.requests.count == 3 }) == .done)
        let excesses = harness.server.requests.sorted { $0.key < $1.key }.map(\.value.excess)
        #expect(excesses == [.none, .unacknowledged, .unacknowledged])
        #expect(harness.run(until: { harness.server.acknowledgments == 2 }) == .done)
        #expect(harness.server.closes.isEmpty, "the connection was closed")
    }

    @Test func refusedStreamsCountAsUnprocessedAndOtherResetsDoNot() throws {
        let codes: [Int32: HTTP2ErrorCode] = [1: .refusedStream, 3: .cancel, 5: .internalError, 7: .noError]
        let harness = try Harness { server, stream in server.server.reset(stream, codes[stream.id] ?? .noError) }
        #expect(harness.open())
        for _ in codes { harness.request() }
        #expect(harness.run(until: { harness.client.ended == 4 }) == .done)
        #expect(harness.client.responses[1]?.end == .refusedUnprocessed)
        #expect(harness.client.responses[3]?.end == .reset(.cancel))
        #expect(harness.client.responses[5]?.end == .reset(.internalError))
        #expect(harness.client.responses[7]?.end == .reset(.noError))
        #expect(harness.client.closes.isEmpty)
    }

    @Test func aRequestRefusedAfterItsAnswerBeganMayHaveBeenProcessed() throws {
        var requested: HTTP2Stream?
        let harness = try Harness { server, stream in
            requested = stream
            server.server.respond(stream, status: 200, body: [UInt8](repeating: 1, count: 200_000))
        }
        #expect(harness.open())
        let stream = try #require(harness.request())
        #expect(harness.run(until: { harness.client.responses[stream.id]?.status == 200 }) == .done)
        let answered = try #require(requested)
        harness.loop.enter { harness.server.server.reset(answered, .refusedStream) }
        #expect(harness.run(until: { harness.client.ended == 1 }) == .done)
        #expect(harness.client.responses[stream.id]?.end == .reset(.refusedStream))
    }

    @Test func goAwaySplitsTheStreamsAtItsLastID() throws {
        let harness = try Harness(onRequest: { _, _ in })
        #expect(harness.open())
        let streams = (0..<10).compactMap { _ in harness.request() }
        #expect(harness.run(until: { harness.server.requests.count == 10 }) == .done)
        harness.loop.enter {
            harness.server.server.goAway(.noError, lastStreamID: 9, debug: Array("{\"reason\":\"Shutdown\"}".utf8))
        }
        #expect(harness.run(until: { !harness.client.goAways.isEmpty }) == .done)
        #expect(harness.client.goAways[0] == (9, .noError, "{\"reason\":\"Shutdown\"}"))
        #expect(harness.client.ended == 5)
        #expect(streams[5...].allSatisfy { harness.client.responses[$0.id]?.end == .refusedUnprocessed })
        #expect(!harness.client.client.isOpen)
        #expect(harness.request() == nil)
        // The other streams are answered. Then the connection closes.
        harness.loop.enter { for stream in streams[..<5] { harness.server.server.respond(stream, status: 200) } }
        #expect(harness.run(until: { harness.client.closes.count == 1 && harness.server.closes.count == 1 }) == .done)
        #expect(streams[..<5].allSatisfy { harness.client.responses[$0.id]?.end == .complete })
        #expect(harness.client.closes == [nil])
    }

    /// All requests arrive at once, and the server sends a GOAWAY after the first answer. The client may send the
    /// other requests again on another connection.
    @Test func noStreamAfterAGoAwayIsServed() throws {
        let harness = try Harness { server, stream in
            server.server.respond(stream, status: 200)
            server.server.goAway()
        }
        #expect(harness.open())
        for _ in 0..<4 { harness.request() }
        #expect(harness.run(until: { harness.client.ended == 4 && harness.client.closes.count == 1 }) == .done)
        #expect(harness.server.requests.count == 1)
        #expect(harness.client.responses.values.count { $0.end == .refusedUnprocessed } == 3)
    }

    @Test func twoGoAwaysLowerTheLastID() throws {
        let harness = try Harness(onRequest: { _, _ in })
        #expect(harness.open())
        for _ in 0..<4 { harness.request() }
        #expect(harness.run(until: { harness.server.requests.count == 4 }) == .done)
        harness.loop.enter {
            harness.server.server.goAway(lastStreamID: 5)
            harness.server.server.goAway(lastStreamID: 1)
        }
        #expect(harness.run(until: { harness.client.goAways.count == 2 }) == .done)
        #expect(harness.client.ended == 3)
        #expect(harness.client.responses[1]?.end == nil)
    }

    @Test func aSentGoAwayClosesAfterTheLastAnswer() throws {
        var openRequests: [HTTP2Stream] = []
        let harness = try Harness(onRequest: { _, stream in openRequests.append(stream) })
        #expect(harness.open())
        harness.request()
        #expect(harness.run(until: { openRequests.count == 1 }) == .done)
        harness.loop.enter { harness.client.client.goAway() }
        #expect(harness.request() == nil)
        harness.settle()
        #expect(harness.client.closes.isEmpty)
        harness.loop.enter { harness.server.server.respond(openRequests[0], status: 200) }
        #expect(harness.run(until: { harness.client.closes.count == 1 }) == .done)
        #expect(harness.client.responses[1]?.end == .complete)
    }

    @Test func aServerMayCloseWithoutAGoAway() throws {
        let harness = try Harness(onRequest: { _, _ in })
        #expect(harness.open())
        harness.request()
        #expect(harness.run(until: { harness.server.requests.count == 1 }) == .done)
        harness.loop.enter { harness.server.server.close() }
        harness.settle()
        #expect(harness.client.goAways.isEmpty && harness.client.closes.count == 1)
        #expect(harness.client.responses[1]?.end == .connectionLost)
        #expect(harness.server.closes == [nil])
    }

    @Test(arguments: [true, false]) func aGoAwayMayLeaveTheConnectionOpen(lingers: Bool) throws {
        let harness = BareHarness()
        let server = ScriptedServer { _, _ in }
        let peer = RawPeer(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
        try harness.connect(peer, to: server)
        func settle() { _ = harness.loop.run(limit: .seconds(60), until: { false }) }
        settle()
        harness.loop.enter { server.server.goAway(lingers: lingers) }
        settle()
        #expect(peer.hasClosed == !lingers)
        harness.loop.enter { peer.transport?.close() }
        settle()
        #expect(server.closes.count == 1)
    }

    @Test func aLingeringConnectionEndsAfterAProtocolViolation() throws {
        let harness = BareHarness()
        let server = ScriptedServer { _, _ in }
        let request: [UInt8] = [0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x87, 0x84, 0x41, 1, 0x61]
        let peer = RawPeer(
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0] + request)
        try harness.connect(peer, to: server)
        func settle() { _ = harness.loop.run(limit: .seconds(60), until: { false }) }
        settle()
        #expect(server.requests.count == 1)
        harness.loop.enter { server.server.goAway(lingers: true) }
        settle()
        #expect(!peer.hasClosed)
        let dataOfNoStream: [UInt8] = [0, 0, 1, 0, 0, 0, 0, 0, 0, 7]
        harness.loop.enter { _ = dataOfNoStream.withUnsafeBytes { peer.transport?.write($0) } }
        settle()
        #expect(peer.hasClosed)
        #expect(server.closes.map { $0?.code } == [.protocolViolation])
    }

    @Test func aServerMayPauseReading() throws {
        let harness = try Harness()
        #expect(harness.open())
        harness.loop.enter { harness.server.server.pauseReading() }
        harness.request()
        harness.settle()
        #expect(harness.server.requests.isEmpty)
        harness.loop.enter { harness.server.server.resumeReading() }
        harness.settle()
        #expect(harness.client.responses[1]?.end == .complete)
    }

    @Test func aLostConnectionMakesSentRequestsUnknownAndOthersUnprocessed() throws {
        let harness = try Harness(onRequest: { _, _ in })
        #expect(harness.open())
        harness.request()
        #expect(harness.run(until: { harness.server.requests.count == 1 }) == .done)
        harness.loop.enter {
            _ = harness.client.request("/never-written")
            harness.client.client.abort()
        }
        #expect(harness.run(until: { harness.client.closes.count == 1 }) == .done)
        #expect(harness.client.responses[1]?.end == .connectionLost)
        #expect(harness.client.responses[3]?.end == .refusedUnprocessed)
    }

    @Test func theEndOfTheStreamInMidFlightIsAnError() throws {
        let harness = try Harness(onRequest: { server, _ in server.server.abort() })
        #expect(harness.open())
        harness.request()
        #expect(harness.run(until: { harness.client.closes.count == 1 }) == .done)
        #expect(harness.client.responses[1]?.end == .connectionLost)
        #expect(harness.client.closes[0]?.code == .reset)
        #expect(harness.request() == nil)
    }

    @Test func theEndOfTheStreamAfterAGoAwayIsAnErrorForOpenRequests() throws {
        let harness = try Harness(onRequest: { server, _ in
            server.server.goAway()
            server.server.close()
        })
        #expect(harness.open())
        harness.request()
        #expect(harness.run(until: { harness.client.closes.count == 1 }) == .done)
        #expect(harness.client.goAways.map(\.last) == [1])
        #expect(harness.client.responses[1]?.end == .connectionLost)
        #expect(harness.client.closes[0]?.code == .reset)
    }

    @Test func theSecondConnectIsIgnored() throws {
        let harness = try Harness()
        #expect(harness.open())
        let other = RecordingClient()
        let connector = ByteConnector(loop: harness.loop, endpoint: Harness.endpoint)
        harness.loop.enter {
            other.client = HTTP2Client(loop: harness.loop, delegate: other)
            for _ in 0..<2 { other.client.connect(through: connector) }
        }
        harness.settle()
        #expect(harness.servers.count == 2)
        harness.loop.enter { other.client.abort() }
        harness.settle()
        #expect(other.closes.count == 1)
        harness.loop.enter { other.client.connect(through: connector) }
        harness.settle()
        #expect(harness.servers.count == 2, "another connection was opened")
    }

    /// The peer receives only complete HTTP/2 frames.
    @Test func aCloseWhileConnectingIsOrderly() throws {
        let harness = try Harness()
        #expect(harness.open())
        let other = RecordingClient()
        harness.loop.enter {
            other.client = HTTP2Client(loop: harness.loop, delegate: other)
            other.client.connect(through: ByteConnector(loop: harness.loop, endpoint: Harness.endpoint))
            other.client.close()
        }
        harness.settle()
        #expect(other.closes == [nil])
        #expect(harness.servers.last?.closes.map { $0?.code } == [.reset], "the close was not orderly")
    }

    @Test func aClosedPeerImmediatelyStopsNewRequests() throws {
        let harness = try Harness()
        #expect(harness.open())
        harness.loop.enter {
            harness.client.client.peerFinished()
            #expect(harness.client.request("/") == nil)
        }
        harness.settle()
        #expect(harness.client.closes.count == 1)
    }

    @Test func aProtocolViolationEndsTheConnectionDespiteOpenStreams() throws {
        let harness = try Harness(onRequest: { _, _ in })
        #expect(harness.open())
        harness.request()
        #expect(harness.run(until: { harness.server.requests.count == 1 }) == .done)
        harness.loop.enter { harness.server.server.terminate(.enhanceYourCalm, debug: "enough") }
        #expect(harness.run(until: { harness.client.closes.count == 1 && harness.server.closes.count == 1 }) == .done)
        #expect(harness.client.goAways.map(\.code) == [.enhanceYourCalm])
        #expect(harness.client.responses[1]?.end == .connectionLost)
        #expect(harness.server.closes.map { $0?.code } == [.protocolViolation])
    }

    @Test func aRequestCanBeReset() throws {
        let harness = try Harness(onRequest: { _, _ in })
        #expect(harness.open())
        let stream = try #require(harness.request())
        #expect(harness.run(until: { harness.server.requests.count == 1 }) == .done)
        harness.loop.enter { harness.client.client.reset(stream, .cancel) }
        #expect(harness.run(until: { harness.client.ended == 1 }) == .done)
        #expect(harness.client.responses[1]?.end == .reset(.cancel))
        #expect(harness.run(until: { harness.server.requests[1]?.closed == .cancel }) == .done)
        harness.settle()
        let position = harness.client.client.outputPosition
        harness.loop.enter { harness.client.client.reset(stream, .cancel) }
        harness.settle()
        #expect(harness.client.client.outputPosition == position, "a frame was sent for a stream that had ended")
        #expect(harness.request() != nil)
    }

    @Test func anAnswerToAnEndedStreamReachesNoOther() throws {
        var requested: [HTTP2Stream] = []
        let harness = try Harness { _, stream in requested.append(stream) }
        #expect(harness.open())
        let first = try #require(harness.request())
        #expect(harness.run(until: { requested.count == 1 }) == .done)
        harness.loop.enter { harness.client.client.reset(first, .cancel) }
        #expect(harness.run(until: { harness.server.requests[first.id]?.closed != nil }) == .done)
        let second = try #require(harness.request())
        #expect(harness.run(until: { requested.count == 2 }) == .done)
        #expect(requested[0].slot == requested[1].slot)
        harness.loop.enter {
            harness.server.server.respond(requested[1], status: 200, body: [2])
            harness.server.server.respond(requested[0], status: 500, body: [1])
        }
        #expect(harness.run(until: { harness.client.ended == 2 }) == .done)
        #expect(
            harness.client.responses[second.id]
                == RecordingClient.Response(headerBlocks: 1, status: 200, body: [2], end: .complete))
    }

    @Test func aRequestResetBeforeItWasWrittenIsUnprocessed() throws {
        let harness = try Harness()
        #expect(harness.open())
        harness.loop.enter {
            let stream = harness.client.request("/")
            if let stream { harness.client.client.reset(stream, .cancel) }
        }
        #expect(harness.run(until: { harness.client.ended == 1 }) == .done)
        #expect(harness.client.responses[1]?.end == .refusedUnprocessed)
    }

    /// The settings are a header table of 4 KiB, no server push, and at most 16 KiB of header fields (RFC 9113,
    /// 6.5.2).
    @Test func aClientsFirstFrameContainsItsSettings() throws {
        let harness = BareHarness()
        let client = RecordingClient()
        let peer = RawPeer([0, 0, 0, 4, 0, 0, 0, 0, 0])
        try harness.connect(client, to: peer)
        _ = harness.loop.run(limit: .seconds(60), until: { false })
        let settings: [UInt8] = [0, 1, 0, 0, 0x10, 0, 0, 2, 0, 0, 0, 0, 0, 6, 0, 0, 0x40, 0]
        #expect(peer.received.dropFirst(24).starts(with: [0, 0, 18, 4, 0, 0, 0, 0, 0] + settings))
    }

    // RFC 9113 deprecates priorities (section 5.3.2).
    @Test func noPriorityIsSent() throws {
        let harness = BareHarness()
        let client = RecordingClient()
        let peer = RawPeer([0, 0, 0, 4, 0, 0, 0, 0, 0])
        try harness.connect(client, to: peer)
        #expect(harness.loop.run(limit: .seconds(60), until: { client.settings.count == 1 }) == .done)
        for path in ["/1", "/2", "/3"] { #expect(harness.loop.enter { client.request(path) } != nil) }
        #expect(
            harness.loop.run(
                limit: .seconds(60), until: { Self.frameTypes(peer.received).count(where: { $0 == 1 }) == 3 })
                == .done)
        #expect(!Self.frameTypes(peer.received).contains(2))
    }

    /// Returns the types of the frames after the preface.
    private static func frameTypes(_ bytes: [UInt8]) -> [UInt8] {
        var types: [UInt8] = []
        var rest = bytes.dropFirst(24)
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            types.append(head[3])
            rest = rest.dropFirst(9 + (Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])))
        }
        return types
    }

    @Test func trailersBelongToTheirRequest() throws {
        let harness = BareHarness()
        var requested = 0
        let server = ScriptedServer { _, _ in requested += 1 }
        let request: [UInt8] = [0, 0, 6, 1, 4, 0, 0, 0, 1, 0x82, 0x87, 0x84, 0x41, 1, 0x61]
        let trailers: [UInt8] = [0, 0, 5, 1, 5, 0, 0, 0, 1, 0, 1, 0x62, 1, 0x63]
        let peer = RawPeer(
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0] + request + trailers)
        try harness.connect(peer, to: server)
        #expect(harness.loop.run(limit: .seconds(60), until: { requested == 1 }) == .done)
        #expect(
            server.requests[1]?.headers == [":method: GET", ":scheme: https", ":path: /", ":authority: a", "b: c"])
        #expect(server.server.openStreams == 1)
    }

    /// The server reads a large input in parts, and closes the connection at the first request.
    @Test func nothingIsReadAfterTheClose() throws {
        let harness = BareHarness()
        harness.loop.network.wholePiecesPercent = 100
        let server = ScriptedServer { server, _ in server.server.close() }
        let unknown: [UInt8] = [0, 0x40, 0, 0xFA, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 0x4000)
        func request(_ id: UInt8) -> [UInt8] { [0, 0, 6, 1, 5, 0, 0, 0, id, 0x82, 0x87, 0x84, 0x41, 1, 0x61] }
        let peer = RawPeer(
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0] + request(1) + unknown
                + request(3))
        try harness.connect(peer, to: server)
        #expect(harness.loop.run(limit: .seconds(60), until: { !server.closes.isEmpty }) == .done)
        #expect(server.requests.keys.sorted() == [1])
    }

    @Test func anAbortTakesPrecedenceOverAProtocolViolation() throws {
        let harness = try Harness()
        #expect(harness.open())
        harness.loop.enter {
            harness.server.server.abort()
            harness.server.server.terminate(.protocolError, debug: "late")
        }
        #expect(harness.run(until: { !harness.server.closes.isEmpty }) == .done)
        #expect(harness.server.closes.compacted().allSatisfy { $0.code != .protocolViolation })
    }

    @Test func theStreamLimitIsWrittenOnlyIntoSettings() throws {
        let harness = try Harness(serverSettings: HTTP2Settings(maxConcurrentStreams: 3))
        #expect(harness.open())
        harness.settle()
        harness.loop.enter {
            harness.server.server.ping(1)
            harness.server.server.update(HTTP2Settings(maxConcurrentStreams: 2))
        }
        harness.settle()
        #expect(harness.client.settings.last?.maxConcurrentStreams == 2)
    }

    /// Codes 0 to 13 in the standard's order (RFC 9113, 7).
    @Test func errorCodesHaveTheStandardsNames() {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        #expect((0..<14).map { HTTP2ErrorCode(rawValue: $0).description } == names)
        #expect(HTTP2ErrorCode(name: "HTTP_1_1_REQUIRED") == .http11Required)
        #expect(HTTP2ErrorCode(rawValue: 14).description == "error 14")
    }

    @Test func memoryIsReusedForTheSameSize() throws {
        let memory = SessionMemory()
        let piece = try #require(memory.allocate(65))
        memory.release(piece)
        let smaller = memory.allocate(64)
        #expect(smaller != piece)
        let again = memory.allocate(128)
        #expect(again == piece)
        memory.release(smaller)
        memory.release(again)
    }

    // Blocks of more than 1024 bytes have no free list.
    @Test(arguments: [0, 1, 1024, 1025, 100_000]) func memoryHasTheRequestedSize(bytes: Int) throws {
        let memory = SessionMemory()
        for _ in 0..<2 {
            let piece = try #require(memory.allocate(bytes))
            piece.initializeMemory(as: UInt8.self, repeating: 0xFF, count: bytes)
            memory.release(piece)
        }
    }

    @Test func pingsAreAnswered() throws {
        let harness = try Harness()
        #expect(harness.open())
        harness.loop.enter {
            harness.server.server.ping(1)
            harness.client.client.ping(0x0123_4567_89AB_CDEF)
        }
        harness.settle()
        #expect(harness.client.pings == [0x0123_4567_89AB_CDEF], "a PING of the peer counted as an acknowledgment")
    }
}

extension Sequence {
    func compacted<Wrapped>() -> [Wrapped] where Element == Wrapped? { compactMap { $0 } }
}
