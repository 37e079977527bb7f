import APNSProtocol
import EventLoop
import HTTP2
import TestKit
import Testing

@testable import APNSSimulator

/// The rows of the documentation's table about failures of APNs, simulated by faults.
@Suite struct FaultConformanceTests {
    @Test("row 9: SETTINGS without a stream limit") func row9() throws {
        let wire = try Wire()
        try put(
            wire, Fault(id: "9", trigger: .connection, action: .settings(settings { $0.maxConcurrentStreams = .omit })))
        let peer = wire.connect()
        #expect(
            peer.transcript.first
                == "SETTINGS header_table_size=4096 initial_window_size=65535 max_frame_size=16384 max_header_list_size=8000"
        )
        let streams = send(5, on: peer, wire)
        wire.run { streams.allSatisfy { peer[$0].isComplete } }
        #expect(streams.map { peer[$0].line } == Array(repeating: "200", count: 5))
    }

    @Test("row 10: the limit falls to 1 after a 4xx, with requests in flight") func row10() throws {
        let wire = try Wire()
        try put(
            wire,
            Fault(
                id: "10", match: FaultMatch(devicePrefix: "bad"),
                action: .settings(settings { $0.maxConcurrentStreams = .value(1) }), countMax: 1))
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        #expect(wire.push([":path": "/3/device/badx"], on: peer).line == #"400 {"reason":"BadDeviceToken"}"#)
        wire.run { streamLimits(peer).count == 3 }
        #expect(streamLimits(peer) == [1, 1000, 1])
        let streams = send(2, on: peer, wire)
        wire.run { streams.allSatisfy { peer[$0].isComplete } }
        #expect(streams.map { peer[$0].line } == ["200", "RST_STREAM 7"])
        try perform(wire, .settings(settings { $0.maxConcurrentStreams = .value(500) }))
        wire.run { streamLimits(peer).count == 4 }
        #expect(streamLimits(peer).last == 500)
    }

    @Test("row 11: SETTINGS with a header table of 0 or 4096 bytes", arguments: [0, 4096] as [UInt32])
    func row11(bytes: UInt32) throws {
        let wire = try Wire()
        try put(
            wire,
            Fault(id: "11", trigger: .connection, action: .settings(settings { $0.headerTableBytes = .value(bytes) })))
        let peer = wire.connect()
        #expect(
            peer.transcript.first
                == "SETTINGS header_table_size=\(bytes) max_concurrent_streams=1 initial_window_size=65535 "
                + "max_frame_size=16384 max_header_list_size=8000")
        // The project's client respects the setting, and adds nothing to a table of size 0.
        let client = wire.apns.connect()
        #expect(wire.run { !client.streamsMax.isEmpty })
        for _ in 0..<2 {
            wire.loop.enter { _ = client.push(id: nil) }
            wire.apns.settle()
        }
        let topic = try #require(wire.apns.requests.last?.headers.first { $0.name == "apns-topic" })
        #expect(topic.representation.form == (bytes == 0 ? .withoutIndexing : .indexed))
    }

    @Test("row 98: 410 with an empty body") func row98() throws {
        let answer = try answered(#"{"status": 410}"#)
        #expect(answer.line == "410" && answer.frames == ["HEADERS end_stream"] && answer["content-type"] == nil)
    }

    @Test(
        "row 97: a timestamp that is absent, a fraction or a text",
        arguments: [
            #"{"reason":"Unregistered"}"#, #"{"reason":"Unregistered","timestamp":1.5}"#,
            #"{"reason":"Unregistered","timestamp":"12"}"#,
        ])
    func row97(body: String) throws {
        let escaped = body.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: #"\""#)
        #expect(try answered(#"{"status": 410, "body": "\#(escaped)"}"#).line == "410 \(body)")
    }

    @Test("row 102: 500 five times on one connection, and a new one is fine") func row102() throws {
        let wire = try Wire()
        try put(
            wire,
            Fault(
                id: "102", match: FaultMatch(connection: 1), action: .answer(.refused(.internalServerError)),
                countMax: 5))
        let peer = wire.connect()
        for _ in 0..<5 { #expect(wire.push(on: peer).line == #"500 {"reason":"InternalServerError"}"#) }
        expectAccepted(wire.push(on: wire.connect()))
    }

    @Test(
        "row 106: unknown reasons, and rows 103, 104 and 142: 503",
        arguments: [
            (#"{"status": 400, "reason": "FooBar"}"#, #"400 {"reason":"FooBar"}"#),
            (#"{"status": 403, "reason": "FooBar"}"#, #"403 {"reason":"FooBar"}"#),
            (#"{"status": 429, "reason": "FooBar"}"#, #"429 {"reason":"FooBar"}"#),
            (#"{"status": 503, "reason": "FooBar"}"#, #"503 {"reason":"FooBar"}"#),
            (#"{"reason": "ServiceUnavailable"}"#, #"503 {"reason":"ServiceUnavailable"}"#),
            (#"{"reason": "Shutdown"}"#, #"503 {"reason":"Shutdown"}"#),
            (#"{"status": 503, "reason": "Service Unavailable"}"#, #"503 {"reason":"Service Unavailable"}"#),
            (#"{"reason": "InternalServerError"}"#, #"500 {"reason":"InternalServerError"}"#),
            (
                #"{"status": 403, "reason": "BadEnvironmentKeyInToken"}"#,
                #"403 {"reason":"BadEnvironmentKeyInToken"}"#
            ),
        ])
    func row106(fault: String, line: String) throws {
        expectRefused(try answered(fault), Int(line.prefix(3)) ?? 0, String(line.dropFirst(4)))
    }

    @Test("row 107: 502 with an HTML body") func row107() throws {
        let answer = try answered(#"{"status": 502, "body": "<html>Bad Gateway</html>", "content_type": "text/html"}"#)
        #expect(answer.line == "502 <html>Bad Gateway</html>" && answer["content-type"] == "text/html")
    }

    @Test("row 108: 400 with truncated JSON") func row108() throws {
        let answer = try answered(#"{"status": 400, "body": "{\"reason\":\"BadTo"}"#)
        #expect(answer.line == #"400 {"reason":"BadTo"# && answer["content-type"] == "application/json")
    }

    @Test("row 111: Retry-After with 429") func row111() throws {
        let answer = try answered(#"{"reason": "TooManyRequests", "retry_after_seconds": 30}"#)
        #expect(answer.line == #"429 {"reason":"TooManyRequests"}"# && answer["retry-after"] == "30")
    }

    @Test("row 112: GOAWAY after the fifth of ten streams") func row112() throws {
        let (wire, peer, streams) = try inFlight(10)
        try perform(wire, .goAway(FaultGoAway(lastStream: .first(5), debug: Array(#"{"reason":"Shutdown"}"#.utf8))))
        wire.run { peer.isClosed }
        let goAway = try #require(peer.transcript.firstIndex { $0.hasPrefix("GOAWAY") })
        #expect(peer.transcript[goAway] == #"GOAWAY \#(streams[4]) NO_ERROR {"reason":"Shutdown"}"#)
        #expect(
            streams.map { peer[$0].line } == Array(repeating: "200", count: 5) + Array(repeating: "no status", count: 5)
        )
        #expect(peer.transcript[goAway...].count { $0.hasPrefix("HEADERS") } == 5, "not all answers follow the frame")
        #expect(wire.apns.server.counters.requestsAbandoned == 5)
        #expect(wire.apns.server.counters.connectionsByEnd[.goAway] == 1)
    }

    @Test("row 113: GOAWAY, then the connection closes with unanswered streams") func row113() throws {
        let (wire, peer, streams) = try inFlight(4)
        try perform(wire, .goAway(FaultGoAway(closing: .close)))
        wire.run { peer.isClosed }
        #expect(peer.transcript.last == "GOAWAY \(streams[3]) NO_ERROR ")
        #expect(streams.allSatisfy { peer[$0].frames.isEmpty } && peer.error == nil)
        #expect(wire.apns.server.counters.inFlight == 0)
    }

    @Test("row 114: two GOAWAYs, the second lower and bare") func row114() throws {
        let (wire, peer, streams) = try inFlight(6)
        try perform(
            wire,
            .goAway(
                FaultGoAway(
                    code: .internalError, debug: Array(#"{"reason":"InternalServerError"}"#.utf8), second: .first(2))))
        wire.run { peer.isClosed }
        #expect(
            peer.transcript.filter { $0.hasPrefix("GOAWAY") } == [
                #"GOAWAY \#(streams[5]) INTERNAL_ERROR {"reason":"InternalServerError"}"#,
                "GOAWAY \(streams[1]) INTERNAL_ERROR ",
            ])
        #expect(streams.filter { peer[$0].line == "200" } == Array(streams[..<2]))
    }

    @Test(
        "row 115: debug data of all kinds",
        arguments: [
            Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8),
            Array("Maximum active streams violated for this endpoint.".utf8), [], [0, 255, 10, 13],
            [UInt8](repeating: 65, count: FaultGoAway.debugBytesMax),
        ])
    func row115(debug: [UInt8]) throws {
        let wire = try Wire()
        let peer = wire.connect()
        try perform(wire, .goAway(FaultGoAway(lastStream: .id(0), code: .refusedStream, debug: debug)))
        wire.run { peer.isClosed }
        #expect(peer.frames.last?.payload == [0, 0, 0, 0, 0, 0, 0, 7] + debug)
    }

    @Test("row 116: IdleTimeout with no streams") func row116() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        try perform(wire, .goAway(FaultGoAway(debug: Array(#"{"reason":"IdleTimeout"}"#.utf8))))
        wire.run { peer.isClosed }
        #expect(peer.transcript.last == #"GOAWAY 1 NO_ERROR {"reason":"IdleTimeout"}"#)
        #expect(peer.isFinished)
    }

    @Test("row 117: TCP reset with 100 in flight") func row117() throws {
        let (wire, peer, streams) = try inFlight(100)
        try perform(wire, .resetConnection)
        wire.run { peer.isClosed }
        #expect(peer.error?.code == .reset)
        #expect(streams.allSatisfy { peer[$0].frames.isEmpty })
        #expect(wire.apns.server.counters.requestsAbandoned == 100 && wire.apns.server.counters.inFlight == 0)
        #expect(wire.apns.server.counters.connectionsByEnd[.fault] == 1)
    }

    @Test("row 118: a stream that is never answered") func row118() throws {
        let wire = try Wire()
        try put(wire, Fault(id: "118", match: FaultMatch(devicePrefix: "00ff"), action: .silence))
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        let stream = wire.loop.enter {
            peer.request(wire.fields([":path": "/3/device/00ff"]), body: Array(Wire.alert.utf8))
        }
        wire.wait(.seconds(50))
        #expect(peer[stream].frames.isEmpty && wire.apns.server.counters.inFlight == 1)
        let request = try #require(wire.apns.requests.last)
        #expect(request.status == nil && request.faultID == "118" && request.answeredUnixMilliseconds == nil)
        wire.loop.enter { peer.send(.resetStream(stream, code: 8)) }
        expectAccepted(wire.push(on: peer))
        #expect(wire.apns.server.counters.inFlight == 0 && wire.apns.server.counters.requestsAbandoned == 1)
    }

    @Test("row 119: an answer after the client's timeout") func row119() throws {
        let wire = try Wire()
        try put(wire, Fault(id: "119", action: .latency(.constant(5000)), countMax: 2))
        let peer = wire.connect()
        let start = wire.loop.now.monotonic
        let stream = wire.loop.enter { peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        wire.run { peer[stream].isComplete }
        expectAccepted(peer[stream])
        #expect(start.duration(to: wire.loop.now.monotonic) >= .seconds(5))
        // If the client's timeout comes first, the answer is not sent.
        let late = wire.loop.enter { peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        wire.wait(.seconds(1))
        wire.loop.enter { peer.send(.resetStream(late, code: 8)) }
        wire.wait(.seconds(20))
        #expect(peer[late].frames.isEmpty)
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 120: REFUSED_STREAM on some streams") func row120() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        try put(wire, Fault(id: "120", action: .resetStream(.refusedStream), share: 0.5))
        let streams = send(40, on: peer, wire)
        wire.run { streams.allSatisfy { peer[$0].isComplete } }
        let refused = streams.filter { peer[$0].line == "RST_STREAM 7" }
        #expect(refused.count > 8 && refused.count < 32)
        #expect(streams.filter { peer[$0].line == "200" }.count == 40 - refused.count)
        // Refused requests were not processed, so the common ID counts only for the other requests.
        #expect(wire.apns.server.counters.duplicateIDs == 40 - refused.count)
        #expect(wire.apns.requests.filter { $0.faultID == "120" }.count == refused.count)
    }

    @Test("row 121: streams after a GOAWAY are ignored") func row121() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        try perform(wire, .goAway(FaultGoAway(closing: .keep)))
        wire.run { peer.transcript.last == "GOAWAY 1 NO_ERROR " }
        let streams = send(3, on: peer, wire)
        wire.wait(.seconds(30))
        #expect(streams.allSatisfy { peer[$0].frames.isEmpty } && !peer.isClosed)
        #expect(wire.apns.server.counters.requests == 1)
    }

    @Test("row 122: idle for an hour, then only 500") func row122() throws {
        let wire = try Wire()
        try put(wire, Fault(id: "122", match: FaultMatch(idleSecondsMin: 3600), action: .staleConnection))
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.loop.enter { wire.apns.server.clockOffset = .seconds(3599) }
        let token = try wire.token(of: wire.apns.provider, ageSeconds: -3599)
        expectAccepted(wire.push(with: token, on: peer))
        wire.loop.enter { wire.apns.server.clockOffset += .seconds(3601) }
        for _ in 0..<3 {
            let fresh = try wire.token(of: wire.apns.provider, ageSeconds: -7200)
            #expect(wire.push(with: fresh, on: peer).line == #"500 {"reason":"InternalServerError"}"#)
            expectAccepted(wire.push(with: fresh))
        }
    }

    @Test("row 123: a server that stops reading") func row123() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        try perform(wire, .stopReading(milliseconds: nil))
        let stream = wire.loop.enter { peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        wire.wait(.seconds(30))
        #expect(peer[stream].frames.isEmpty && wire.apns.server.counters.requests == 1)
        try perform(wire, .resumeReading)
        wire.run { peer[stream].isComplete }
        expectAccepted(peer[stream])
        try perform(wire, .stopReading(milliseconds: 5000))
        let start = wire.loop.now.monotonic
        expectAccepted(wire.push(on: peer))
        #expect(start.duration(to: wire.loop.now.monotonic) >= .milliseconds(4900))
        // The server resets a stream whose body exceeds an empty flow-control window.
        try perform(wire, .settings(settings { $0.initialWindowBytes = .value(0) }))
        #expect(wire.run { peer.frames.flatMap(\.settings).last { $0.id == 4 }?.value == 0 })
        let held = wire.loop.enter { peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        wire.run { peer[held].isComplete }
        #expect(peer[held].line == "RST_STREAM 3", "a body beyond the window was sent")
    }

    private func put(_ wire: Wire, _ fault: Fault) throws {
        try wire.loop.enter { try wire.apns.server.faults.put(fault) }
    }

    private func perform(_ wire: Wire, _ action: FaultAction) throws {
        #expect(try wire.loop.enter { try wire.apns.server.perform(action, on: 1) } == 1)
    }

    private func settings(_ change: (inout FaultSettings) -> Void) -> FaultSettings {
        var settings = FaultSettings()
        change(&settings)
        return settings
    }

    private func send(_ count: Int, on peer: FramePeer, _ wire: Wire) -> [UInt32] {
        wire.loop.enter { (0..<count).map { _ in peer.request(wire.fields(), body: Array(Wire.alert.utf8)) } }
    }

    /// Returns the answer to a valid push while a fault forces `answer`.
    ///
    /// - Parameter answer: JSON in the form of the admin API and of state files.
    private func answered(_ answer: String) throws -> WireAnswer {
        let wire = try Wire()
        try put(wire, try fault(#"{"id": "forced", "action": {"answer": \#(answer)}}"#))
        let answer = wire.push()
        #expect(wire.apns.requests.last?.status == answer.status && wire.apns.requests.last?.faultID == "forced")
        return answer
    }

    /// Returns a simulator, a connection with this number of unanswered requests, and the streams of the requests.
    private func inFlight(_ count: Int) throws -> (Wire, FramePeer, [UInt32]) {
        let wire = try Wire { configuration, _ in configuration.answerDelay = .milliseconds(500) }
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        let streams = send(count, on: peer, wire)
        #expect(wire.run { wire.apns.server.counters.inFlight == count })
        return (wire, peer, streams)
    }

    private func streamLimits(_ peer: FramePeer) -> [UInt32] {
        peer.frames.flatMap(\.settings).filter { $0.id == 3 }.map(\.value)
    }
}
