import APNSProtocol
import EventLoop
import HTTP2
import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of faults on a server, in addition to the rows of the documentation's table.
@Suite struct ServerFaultTests {
    @Test func aLatencyReplacesTheDelay() throws {
        let wire = try Wire { configuration, _ in configuration.answerDelay = .seconds(5) }
        try put(wire, #"{"match": {"device_prefix": "aa"}, "action": {"latency": {"constant_ms": 20}}}"#)
        let peer = wire.connect()
        func milliseconds(_ token: String) -> Int64 {
            _ = wire.push([":path": "/3/device/\(token)"], on: peer)
            guard let request = wire.apns.requests.last else { return -1 }
            return (request.answeredUnixMilliseconds ?? 0) - request.unixMilliseconds
        }
        #expect(milliseconds("bb") == 5000)
        #expect(milliseconds("aa") == 20)
        #expect(wire.apns.requests.map(\.faultID) == [nil, "made"])
        #expect(wire.apns.server.counters.faultsByAction == ["latency": 1])
    }

    @Test func answersOvertakeEachOther() throws {
        let wire = try Wire()
        try put(wire, #"{"match": {"device_prefix": "aa"}, "action": {"latency": {"constant_ms": 900}}}"#)
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        let streams = wire.loop.enter {
            ["aa", "bb", "aa", "bb"].map { token in
                peer.request(wire.fields([":path": "/3/device/\(token)"]), body: Array(Wire.alert.utf8))
            }
        }
        wire.run { streams.allSatisfy { peer[$0].isComplete } }
        let order = peer.frames.filter { $0.type == 1 }.map(\.stream).suffix(4)
        #expect(Array(order) == [streams[1], streams[3], streams[0], streams[2]])
    }

    @Test func aLatencyAlsoDelaysAReset() throws {
        let wire = try Wire()
        try put(
            wire, #"{"id": "slow", "action": {"latency": {"constant_ms": 300}}}"#,
            #"{"id": "reset", "action": {"reset_stream": "CANCEL"}}"#)
        let start = wire.loop.now.monotonic
        #expect(wire.push().line == "RST_STREAM 8")
        #expect(start.duration(to: wire.loop.now.monotonic) >= .milliseconds(300))
        #expect(wire.apns.requests.map(\.faultID) == ["reset"])
        #expect(wire.apns.server.counters.faultsByAction == ["latency": 1, "reset_stream": 1])
        #expect(wire.apns.server.counters.inFlight == 0)
    }

    @Test func aForcedAnswerOpensTheGateAndChangesNothing() throws {
        let wire = try Wire { _, state in
            state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
        }
        try put(wire, #"{"action": {"answer": {"reason": "ServiceUnavailable"}}}"#)
        let peer = wire.connect()
        expectRefused(wire.push(on: peer), 503, #"{"reason":"ServiceUnavailable"}"#)
        wire.run { peer.frames.flatMap(\.settings).contains { $0.id == 3 && $0.value == 1000 } }
        #expect(
            peer.frames.flatMap(\.settings).last { $0.id == 3 }?.value == 1000,
            "the authenticated request did not raise the limit")

        let channels = wire.at(Wire.Place.sandboxChannels)
        func manage(_ method: String, _ end: String, body: String = "") -> WireAnswer {
            channels.exchange(
                [
                    (":method", method), (":scheme", "https"), (":path", "/1/apps/com.example.app/\(end)"),
                    (":authority", "apns"), ("authorization", "bearer \(wire.apns.token)"),
                ], body: Array(body.utf8))
        }
        let body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        #expect(manage("POST", "channels", body: body).status == 503)
        wire.loop.enter { wire.apns.server.faults.removeAll() }
        #expect(manage("GET", "all-channels").bodyText == #"{"channels":[]}"#)
        // An unanswered request was still processed.
        try put(wire, #"{"match": {"topic": "com.example.app"}, "action": "reset_connection", "count_max": 1}"#)
        #expect(manage("POST", "channels", body: body).line == "no status")
        #expect(manage("GET", "all-channels").bodyText != #"{"channels":[]}"#)
    }

    @Test func faultsApplyToConnectionsFromTheStart() throws {
        let wire = try Wire()
        try put(
            wire, #"{"id": "a", "trigger": "connection", "action": {"goaway": {"debug": "no"}}, "count_max": 1}"#,
            #"{"id": "b", "trigger": "connection", "match": {"connection": 2}, "action": "reset_connection"}"#,
            #"{"id": "c", "trigger": "connection", "match": {"connection": 3}, "action": "stop_reading"}"#,
            #"{"id": "d", "trigger": "connection", "match": {"connection": 4}, "action": "stale_connection"}"#)
        let first = wire.connect()
        wire.run { first.isClosed }
        #expect(first.transcript.last == "GOAWAY 0 NO_ERROR no")
        let second = wire.connect()
        wire.run { second.isClosed }
        #expect(second.error?.code == .reset)
        let third = wire.connect()
        let stream = wire.loop.enter { third.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        wire.wait(.seconds(5))
        #expect(third[stream].frames.isEmpty)
        #expect(try wire.loop.enter { try wire.apns.server.perform(.resumeReading) } == 1)
        wire.run { third[stream].isComplete }
        expectAccepted(third[stream])
        #expect(wire.push(on: wire.connect()).status == 500)
        expectAccepted(wire.push(on: wire.connect()))
    }

    @Test func aGoAwayBelowARequestLeavesItUndone() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        try put(wire, #"{"action": {"goaway": {"last_stream_id": 1}}, "count_max": 1}"#)
        let stream = wire.loop.enter { peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        wire.run { peer.isClosed }
        #expect(peer[stream].frames.isEmpty && peer.transcript.last == "GOAWAY 1 NO_ERROR ")
        #expect(wire.apns.server.counters.duplicateIDs == 0, "the unprocessed request counts as a duplicate")
        expectAccepted(wire.push())
        #expect(wire.apns.server.counters.duplicateIDs == 1)
    }

    @Test func allConnectionsOrOneOrNone() throws {
        let wire = try Wire()
        let peers = (0..<3).map { _ in wire.connect() }
        func perform(_ action: FaultAction, on number: Int? = nil) throws -> Int {
            try wire.loop.enter { try wire.apns.server.perform(action, on: number) }
        }
        #expect(try perform(.closeConnection, on: 2) == 1)
        #expect(try perform(.closeConnection, on: 9) == 0)
        #expect(try perform(.resetStream(.cancel)) == 3)
        wire.loop.enter {
            for action in [.silence, .latency(.constant(1)), .answer(.accepted)] as [FaultAction] {
                _ = #expect(throws: InputError("\(action.name) applies to requests only; add a fault with this action"))
                {
                    try wire.apns.server.perform(action)
                }
            }
        }
        wire.run { peers[1].isClosed }
        #expect(peers.map(\.isClosed) == [false, true, false])
        #expect(peers[1].error == nil && wire.apns.server.counters.connectionsByEnd == [.fault: 1])
        #expect(try perform(.resetConnection) == 2)
        wire.run { peers.allSatisfy(\.isClosed) }
        #expect(
            wire.apns.server.counters.faultsByAction == [
                "close_connection": 1, "reset_connection": 2, "reset_stream": 3,
            ])
    }

    @Test func allStreamsAreResetImmediately() throws {
        let wire = try Wire { configuration, _ in configuration.answerDelay = .milliseconds(500) }
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        let streams = wire.loop.enter {
            (0..<5).map { _ in peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        }
        #expect(wire.run { wire.apns.server.counters.inFlight == 5 })
        try wire.loop.enter { _ = try wire.apns.server.perform(.resetStream(.internalError)) }
        wire.run { streams.allSatisfy { peer[$0].isComplete } }
        #expect(streams.map { peer[$0].line } == Array(repeating: "RST_STREAM 2", count: 5))
        #expect(wire.apns.server.counters.inFlight == 0)
        expectAccepted(wire.push(on: peer))
    }

    @Test func resettingTheMemoryRestartsFaults() throws {
        let wire = try Wire()
        try put(wire, #"{"action": "silence", "share": 0.5, "count_max": 1}"#)
        wire.loop.enter { wire.apns.server.resetMemory() }
        #expect(wire.apns.server.faults.entries.map(\.struck) == [0])
        #expect(wire.apns.server.faults.entries.map(\.fault.id) == ["made"])
    }

    /// Applies random faults of many kinds to clients that reset some of their streams. In the end, all requests are
    /// counted and none is pending.
    @Test(arguments: 1...15 as ClosedRange<UInt64>) func mixedFaultsLeaveNoPendingRequests(seed: UInt64) throws {
        let apns = try VirtualAPNS(seed: seed) { configuration, state in
            configuration.faultSeed = seed
            configuration.requestsLoggedMax = 50
            state.rules.gate = .off
        }
        try apns.loop.enter {
            for text in [
                #"{"id": "slow", "action": {"latency": {"median_ms": 20, "p99_ms": 400}}, "share": 0.7}"#,
                #"{"id": "mute", "action": "silence", "share": 0.02}"#,
                #"{"id": "error", "action": {"answer": {"reason": "InternalServerError"}}, "share": 0.05}"#,
                #"{"id": "reset", "action": "reset_stream", "share": 0.05}"#,
                #"{"id": "away", "action": {"goaway": {"last_stream_id": {"first": 3}}}, "share": 0.02}"#,
                #"{"id": "close", "action": {"goaway": {"then": "close"}}, "share": 0.01}"#,
                #"{"id": "rst", "action": "reset_connection", "share": 0.01}"#,
                #"{"id": "stop", "action": {"stop_reading": {"ms": 50}}, "share": 0.02}"#,
                #"{"id": "set", "action": {"settings": {"max_concurrent_streams": 7}}, "share": 0.02}"#,
                #"{"id": "stale", "action": "stale_connection", "share": 0.005}"#,
            ] {
                try apns.server.faults.put(try fault(text))
            }
        }
        var random = SeededRandom(seed: seed)
        var client = apns.connect()
        for _ in 0..<400 {
            if client.isClosed || !client.goAways.isEmpty { client = apns.connect() }
            apns.loop.enter {
                for _ in 0..<random.below(4) {
                    guard let stream = client.push(id: nil) else { break }
                    if random.chance(percent: 10) { client.session.reset(stream, .cancel) }
                }
            }
            _ = apns.loop.run(limit: .milliseconds(Int64(random.below(60))), until: { false })
        }
        apns.loop.enter {
            apns.server.faults.removeAll()
            _ = try? apns.server.perform(.resumeReading)
        }
        apns.settle()
        let counters = apns.server.counters
        let refused = counters.refusedByStatus.values.reduce(0, +)
        #expect(counters.requests > 300)
        #expect(counters.requests == counters.accepted + refused + counters.requestsAbandoned + counters.inFlight)
        try apns.loop.enter { _ = try apns.server.perform(.resetConnection) }
        apns.settle()
        #expect(apns.server.counters.inFlight == 0 && apns.server.counters.connectionsOpen == 0)
        #expect(counters.faultsByAction.count > 5)
        let ended = apns.server.counters.connectionsByEnd.values.reduce(0, +)
        #expect(ended == apns.server.counters.connections)
    }

    private func put(_ wire: Wire, _ faults: String...) throws {
        try wire.loop.enter { for text in faults { try wire.apns.server.faults.put(try fault(text)) } }
    }
}
