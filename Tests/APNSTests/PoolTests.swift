import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import Telemetry
import TestKit
import Testing

@testable import APNS

/// Tests of the pool against a scripted APNs.
@Suite struct PoolTests {
    @Test func aPushCarriesAllOfItsHeadersAndItsPayload() throws {
        let harness = try PoolHarness()
        let payload = Array(#"xx{"aps":{}}yy"#.utf8)
        harness.send { _ in
            .device(
                token: Array("..00aaFF..".utf8)[2..<8], topic: Array("com.example.app.voip".utf8),
                pushType: .voip, priority: .immediate, expiration: 2_000_000_000,
                collapseID: Array("..score..".utf8)[2..<7],
                id: UUIDValue("0f8fad5b-d9cb-469f-a165-70867728950e") ?? UUIDValue(high: 0, low: 0),
                payload: payload, payloadRange: 2..<12)
        }
        #expect(harness.runUntilEnded(1))
        let request = try #require(harness.apns.requests.first)
        let token = try #require(request["authorization"])
        #expect(
            request.headers.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: https", ":path: /3/device/00aaFF", ":authority: api.test",
                "authorization: \(token)", "apns-topic: com.example.app.voip", "apns-push-type: voip",
                "apns-id: 0f8fad5b-d9cb-469f-a165-70867728950e", "apns-priority: 10", "apns-expiration: 2000000000",
                "apns-collapse-id: score",
            ])
        #expect(request.body == Array(#"{"aps":{}}"#.utf8))
        #expect(token.hasPrefix("bearer ey") && token.split(separator: ".").count == 3)
        #expect(harness.isAccepted(0))
    }

    // Rows 124, 131 and 133 of the conformance table. Required headers are sent even if the request does not set them.
    @Test(arguments: [
        (Priority?.none, Int64?.none, "10", "0"), (.considerate, 2_000_000_000, "5", "2000000000"),
        (.immediate, 0, "10", "0"),
    ])
    func aBroadcastCarriesAllOfItsHeadersAndItsPayload(
        _ priority: Priority?, _ expiration: Int64?, sentPriority: String, sentExpiration: String
    ) throws {
        let harness = try PoolHarness()
        let payload = Array(#"xx{"aps":{}}yy"#.utf8)
        let id = try #require(UUIDValue("0f8fad5b-d9cb-469f-a165-70867728950e"))
        harness.apns.onRequest = { connection, stream in
            connection.answer(stream, 200, uniqueID: "unique", requestID: "0F8FAD5B")
        }
        harness.send { _ in
            .broadcast(
                channel: Array("..dHN0LXNyY2gtY2hubA==..".utf8)[2..<22], bundleID: Array("com.example.app".utf8),
                priority: priority, expiration: expiration, id: id, payload: payload, payloadRange: 2..<12)
        }
        try #require(harness.runUntilEnded(1))
        let request = try #require(harness.apns.requests.first)
        let token = try #require(request["authorization"])
        #expect(
            request.headers.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: https", ":path: /4/broadcasts/apps/com.example.app",
                ":authority: api.test", "authorization: \(token)", "apns-channel-id: dHN0LXNyY2gtY2hubA==",
                "apns-push-type: liveactivity", "apns-request-id: 0f8fad5b-d9cb-469f-a165-70867728950e",
                "apns-priority: \(sentPriority)", "apns-expiration: \(sentExpiration)",
            ])
        #expect(request.body == Array(#"{"aps":{}}"#.utf8))
        #expect(
            harness.answer(0)
                == PushAnswer(status: 200, connection: 1, apnsUniqueID: "unique", apnsRequestID: "0F8FAD5B"))
    }

    @Test func aKeyThatCannotSignIsLoggedOnce() throws {
        let log = try CapturedLog()
        let harness = try PoolHarness(log: log.log) { $0.token.useSecondsMax = 0 }
        harness.send(20)
        #expect(harness.runUntilEnded(20))
        #expect(harness.outcomes.values.allSatisfy { $0 == .notSent(.noToken) })
        let lines = log.lines().filter { $0.contains("provider token unavailable") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""apns.key_id":"ABCDE12345""#) == true)
    }

    @Test func fieldsThatDifferWithEachRequestAreNotIndexed() throws {
        let harness = try PoolHarness()
        harness.send(2) { number in
            PoolHarness.request(
                number, priority: .considerate, expiration: 2_000_000_000 + Int64(number), collapseID: "c\(number)")
        }
        #expect(harness.runUntilEnded(2))
        let neverIndexed = harness.apns.requests.map { $0.headers.filter(\.neverIndexed).map(\.name) }
        #expect(neverIndexed[0] == [":path", "authorization"], "the first request did not add the names to the table")
        #expect(neverIndexed[1] == [":path", "authorization", "apns-id", "apns-expiration", "apns-collapse-id"])
    }

    @Test func parsesAnswers() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { connection, stream in
            switch connection.request(stream)?.number {
            case 0: connection.answer(stream, 200, uniqueID: "11111111-2222-3333-4444-555555555555")
            case 1: connection.answer(stream, 410, #"{"reason":"Unregistered","timestamp":1454948015990}"#)
            case 2: connection.answer(stream, 502, "<html>Bad gateway</html>")
            case 3: connection.answer(stream, 400, #"{"reas"#)
            default: connection.answer(stream, 410)
            }
        }
        harness.send(5)
        #expect(harness.runUntilEnded(5))
        #expect(
            harness.answer(0)
                == PushAnswer(status: 200, connection: 1, apnsUniqueID: "11111111-2222-3333-4444-555555555555"))
        #expect(
            harness.answer(1)
                == PushAnswer(
                    status: 410, reason: .unregistered, connection: 1, timestampMilliseconds: 1_454_948_015_990))
        #expect(
            harness.answer(2)
                == PushAnswer(
                    status: 502, reason: .unknown("<html>Bad gateway</html>"), isFromAPNS: false, connection: 1))
        #expect(
            harness.answer(3)
                == PushAnswer(status: 400, reason: .unknown(#"{"reas"#), connection: 1))
        #expect(harness.answer(4) == PushAnswer(status: 410, connection: 1))
    }

    // Row 20 of the conformance table. An answer belongs to its stream, regardless of its `apns-id` and the case of the
    // ID.
    @Test func anAnswerBelongsToItsStream() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { [unowned harness] connection, stream in
            let number = connection.request(stream)?.number ?? 0
            let other = harness.apns.requests.first { $0.number == 1 - number }
            connection.answer(
                stream, number == 0 ? 410 : 200,
                id: (other?["apns-id"] ?? "eabeae54-14a8-11e5-b60b-1697f925ec7b").uppercased())
        }
        harness.send(2)
        #expect(harness.runUntilEnded(2))
        #expect(harness.answers.map(\.status) == [410, 200] && harness.answers.allSatisfy(\.isFromAPNS))
    }

    // Status 201 counts as success like 200. If answers with status 201 counted as server errors, two answers would
    // end the use of the connection.
    @Test func parsesTheChannelIDOfAnySuccessfulAnswer() throws {
        let harness = try PoolHarness { $0.serverErrorsMax = 2 }
        harness.apns.onRequest = { connection, stream in
            var headers = HeaderBlock()
            for (name, value) in [("apns-channel-id", "dHN0LXNyY2gtY2hubA=="), ("server", "example")] {
                headers.append(name: name, value: value)
            }
            connection.server.respond(stream, status: 201, headers: headers, body: [])
        }
        for count in 1...3 {
            harness.send { number in
                .channels(
                    .create(.newest), bundleID: Array("com.example.app".utf8),
                    id: UUIDValue(high: 0, low: UInt64(number)))
            }
            try #require(harness.runUntilEnded(count))
        }
        #expect(harness.answers.map(\.channel?.channelID) == Array(repeating: "dHN0LXNyY2gtY2hubA==", count: 3))
        #expect(harness.answers.map(\.connection) == [1, 1, 1])
    }

    @Test func parsesRetryAfter() throws {
        let harness = try PoolHarness()
        let written = ["7", "0", "-7", "7.5", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999999999999"]
        harness.apns.onRequest = { connection, stream in
            let number = connection.request(stream)?.number ?? 0
            connection.answer(stream, 429, #"{"reason":"TooManyRequests"}"#, retryAfter: written[number])
        }
        harness.send(written.count)
        #expect(harness.runUntilEnded(written.count))
        #expect(harness.answers.map(\.retryAfterSeconds) == [7, 0, nil, nil, nil, nil])
    }

    @Test func oneStreamUntilTheFirstAnswerThenTheAllowedNumber() throws {
        let harness = try PoolHarness { $0.streamsMax = 300 }
        harness.apns.onRequest = { _, _ in }
        harness.send(500)
        harness.pass(.seconds(2))
        let connection = harness.apns.connections[0]
        #expect(connection.requests.count == 1)
        harness.loop.enter { connection.accept(connection.requests[0].stream) }
        harness.pass(.seconds(2))
        #expect(connection.requests.count == 301)
        #expect(connection.openMax == 300)
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        harness.loop.enter { for stream in connection.open { connection.accept(stream) } }
        #expect(harness.runUntilEnded(500))
        #expect((0..<500).allSatisfy(harness.isAccepted))
        #expect(harness.apns.connections.count == 1)
    }

    @Test func aTokenRefusalDoesNotOpenTheGate() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { connection, stream in
            connection.answer(stream, 403, #"{"reason":"Forbidden"}"#)
        }
        harness.send(20)
        #expect(harness.runUntilEnded(20))
        #expect(harness.apns.connections.allSatisfy { $0.openMax == 1 })
        #expect(harness.answers.map(\.reason) == Array(repeating: .forbidden, count: 20))
    }

    @Test func aLoweredStreamLimitAppliesToAnOpenConnection() throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        let connection = harness.apns.connections[0]
        harness.loop.enter { connection.server.update(HTTP2Settings(maxConcurrentStreams: 1)) }
        harness.pass(.seconds(1))
        connection.openMax = 0
        harness.send(50)
        #expect(harness.runUntilEnded(51))
        #expect(connection.openMax == 1)
        harness.loop.enter { connection.server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        harness.pass(.seconds(1))
        harness.send(50)
        #expect(harness.runUntilEnded(101))
        #expect(connection.openMax == 40)
    }

    @Test func aThousandInFlightOverTwoConnections() throws {
        let harness = try PoolHarness {
            $0.connectionsMax = 2
            $0.streamsMax = 700
        }
        harness.send(5_000)
        #expect(harness.runUntilEnded(5_000))
        #expect((0..<5_000).allSatisfy(harness.isAccepted))
        #expect(harness.apns.connections.count == 2)
        #expect(Set(harness.apns.requests.compactMap { $0["apns-id"] }).count == 5_000)
        #expect(harness.apns.connections[1].requests.count > 100)
    }

    // The peer accepts headers, but grants no window for a body.
    @Test func aPushToAPeerWithoutAWindowTimesOut() throws {
        let harness = try PoolHarness { $0.waitingMax = 20 }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.settings = HTTP2Settings(maxConcurrentStreams: 10, initialWindowBytes: 0)
        harness.withPool { $0.retireConnections() }
        harness.send(25)
        #expect(harness.runUntilEnded(26))
        let outcomes = harness.outcomes.values
        #expect(outcomes.contains(.notSent(.overloaded)))
        #expect(outcomes.contains(.notSent(.notWritten(silentConnection: 2))), "no push was reported as not written")
        #expect(outcomes.count { if case .answered = $0 { true } else { false } } == 1)
    }

    // First the transport's buffer is full, then the session's buffer. The other frames are not created yet.
    @Test(arguments: [12, 60]) func anUnwrittenPushToAPeerThatDoesNotReadIsUnsent(resumesAfter: Int64) throws {
        let harness = try PoolHarness {
            ($0.requestTimeoutSeconds, $0.pingTimeoutSeconds, $0.waitSecondsMax) = (10, 5, 60)
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        let connection = harness.apns.connections[0]
        harness.loop.enter { connection.transport?.pauseReading() }
        var arrived: Set<Int> = []
        harness.apns.onRequest = { connection, stream in
            arrived.insert(connection.request(stream)?.number ?? 0)
            connection.accept(stream)
        }
        let total = 200
        harness.send(total) { PoolHarness.request($0, alert: String(repeating: "x", count: 4000)) }
        harness.loop.enter {
            _ = harness.loop.schedule(after: .seconds(resumesAfter)) { connection.transport?.resumeReading() }
        }
        #expect(harness.runUntilEnded(1 + total))
        harness.pass(.seconds(resumesAfter))
        let unknown = (1...total).filter { harness.outcomes[$0] == .unknown(.timedOut) }
        let unwritten = (1...total).filter { harness.outcomes[$0] == .notSent(.notWritten(silentConnection: nil)) }
        #expect(unknown.count < total / 2 && unwritten.count > total / 4)
        #expect(arrived.isDisjoint(with: unwritten))
        #expect(unknown.count + unwritten.count + (1...total).count(where: harness.isAccepted) == total)
    }

    @Test func aPushInFlightOnALostConnectionIsUnknown() throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.onRequest = { connection, _ in
            if connection.open.count == 100 { connection.server.abort() }
        }
        harness.send(100)
        #expect(harness.runUntilEnded(101))
        #expect((1...100).allSatisfy { harness.outcomes[$0] == .unknown(.connectionLost) })
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        let lost = harness.loop.now.monotonic
        harness.send()
        #expect(harness.runUntilEnded(102))
        #expect(harness.isAccepted(101), "no new connection was opened on demand")
        #expect(
            lost.duration(to: harness.loop.now.monotonic) < .seconds(1),
            "the reconnect after an authenticated connection was delayed")
    }

    enum Ending: CaseIterable {
        case reset, goAway
    }

    @Test(arguments: Ending.allCases, [Credential.key(PoolHarness.key), .certificate("com.example.app")])
    func connectionsThatEndUnansweredAreReportedAndGetFewPushes(_ ending: Ending, _ credential: Credential) throws {
        let harness = try PoolHarness {
            ($0.credential, $0.streamsMax, $0.connectionsMax) = (credential, 100, 1)
        }
        harness.apns.onRequest = { connection, _ in
            switch ending {
            case .reset: connection.server.abort()
            case .goAway: connection.server.goAway(lastStreamID: 0)
            }
        }
        harness.send(300)
        var counts: [Int] {
            harness.events.compactMap { if case .endedUnanswered(_, let count) = $0 { count } else { nil } }
        }
        let began = harness.loop.now.monotonic
        #expect(harness.run { counts.count == 4 })
        #expect(counts == [1, 2, 3, 4])
        #expect(began.duration(to: harness.loop.now.monotonic) > .seconds(1), "the delays did not grow")
        // The second connection may be opened at a GOAWAY, before the first connection has ended.
        #expect(harness.apns.connections.dropFirst(2).allSatisfy { $0.requests.count <= 1 })
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        #expect(harness.runUntilEnded(300))
        #expect(harness.withPool { $0.isAuthenticated })
        harness.loop.enter { harness.apns.connections.last?.server.abort() }
        harness.pass(.seconds(1))
        #expect(
            harness.events.last == .lost(isIdle: true) && counts.count == 4,
            "the end of an idle connection was reported as unanswered")
    }

    @Test func refusedStreamsAreSentAgainALimitedNumberOfTimes() throws {
        let harness = try PoolHarness { $0.resendsMax = 3 }
        harness.send()
        #expect(harness.runUntilEnded(1))
        var refusals = 0
        harness.apns.onRequest = { connection, stream in
            refusals += 1
            if refusals <= 10 { connection.server.reset(stream, .refusedStream) } else { connection.accept(stream) }
        }
        harness.send(10)
        #expect(harness.runUntilEnded(11))
        #expect((0...10).allSatisfy(harness.isAccepted))
        refusals = Int.min
        harness.send()
        #expect(harness.runUntilEnded(12))
        #expect(harness.outcomes[11] == .notSent(.refused))
        #expect(refusals == Int.min + 4)
    }

    @Test func aConnectionThatOnlyFailsIsReplaced() throws {
        let harness = try PoolHarness {
            $0.connectionsMax = 1
            $0.serverErrorsMax = 5
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        let first = try #require(harness.apns.connections.first)
        harness.apns.onRequest = { connection, stream in
            if connection === first { connection.answer(stream, 500) } else { connection.accept(stream) }
        }
        for count in 2...8 {
            harness.send()
            #expect(harness.runUntilEnded(count))
        }
        #expect((1...5).allSatisfy { harness.answer($0)?.status == 500 })
        #expect((6...7).allSatisfy(harness.isAccepted))
        harness.pass(.seconds(1))
        #expect(first.hasClosed)
    }

    @Test func aConnectionWithOccasionalErrorsIsKept() throws {
        let harness = try PoolHarness {
            $0.connectionsMax = 1
            $0.serverErrorsMax = 5
        }
        var count = 0
        harness.apns.onRequest = { connection, stream in
            count += 1
            if count % 5 == 0 { connection.accept(stream) } else { connection.answer(stream, 500) }
        }
        for count in 1...15 {
            harness.send()
            #expect(harness.runUntilEnded(count))
        }
        harness.pass(.seconds(1))
        #expect(harness.apns.connections.count == 1 && !harness.apns.connections[0].hasClosed)
    }

    // APNs did not process the push, and the reason is unknown.
    @Test func aPushWithATruncatedRefusalIsSentAgain() throws {
        let harness = try PoolHarness()
        let body = String(repeating: " ", count: 2000) + #"{"reason":"BadTopic"}"#
        harness.apns.onRequest = { [unowned harness] connection, stream in
            guard connection === harness.apns.connections[0] else { return connection.accept(stream) }
            harness.loop.network.connections[0].cut(after: 1000, .toClient)
            connection.answer(stream, 400, body)
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        #expect(harness.isAccepted(0))
        #expect(harness.resent == 1)
    }

    @Test func anAcceptanceWithoutEndStreamCounts() throws {
        let harness = try PoolHarness { $0.requestTimeoutSeconds = 10 }
        harness.apns.onRequest = { connection, stream in
            connection.answer(stream, 200, String(repeating: " ", count: 1_000_000))
            // The server never reads the window update.
            connection.apns.isSilent = true
        }
        harness.send()
        harness.pass(.seconds(9))
        #expect(harness.outcomes.isEmpty)
        #expect(harness.runUntilEnded(1))
        #expect(harness.isAccepted(0))
    }

    @Test func otherResetsLeaveTheOutcomeUnknown() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { connection, stream in connection.server.reset(stream, .internalError) }
        harness.send()
        #expect(harness.runUntilEnded(1))
        #expect(harness.outcomes[0] == .unknown(.streamReset(.internalError), silentConnection: 1))
    }

    @Test func aRequestWithoutAnAnswerTimesOutAndItsLateAnswerIsIgnored() throws {
        let harness = try PoolHarness { $0.requestTimeoutSeconds = 30 }
        harness.apns.onRequest = { connection, stream in
            if connection.request(stream)?.number != 1 { connection.accept(stream) }
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.send(3)
        harness.pass(.seconds(29))
        #expect(harness.outcomes.count == 3)
        let connection = harness.apns.connections[0]
        let silent = connection.requests[1]
        // The answer is sent at the moment of the timeout, so the answer and the reset cross.
        harness.loop.enter {
            _ = harness.loop.schedule(after: .milliseconds(1000)) { connection.accept(silent.stream) }
        }
        harness.pass(.seconds(3))
        #expect(harness.outcomes[1] == .unknown(.timedOut))
        #expect(harness.outcomes.count == 4)
        #expect(harness.statistics.endedLate == 1)
        harness.send()
        #expect(harness.runUntilEnded(5))
        #expect(harness.apns.connections.count == 1, "the connection was replaced")
    }

    // The expiration of a push can shorten its timeout, regardless of earlier pushes.
    @Test func theAnswerTimeoutEndsAtTheExpiration() throws {
        let harness = try PoolHarness { $0.requestTimeoutSeconds = 30 }
        harness.send()
        try #require(harness.runUntilEnded(1))
        harness.apns.onRequest = { _, _ in }
        let now = harness.loop.now
        let expirations: [Int64?] = [nil, 10, 100, 1, 0, .max, 10]
        harness.send(7) { number in
            let expiration = expirations[number - 1].map { $0 == 0 || $0 == .max ? $0 : now.unixSeconds + $0 }
            return PoolHarness.request(number, expiration: expiration)
        }
        var endings: [Int: Int64] = [:]
        for second in 1...31 {
            harness.pass(harness.loop.now.monotonic.duration(to: now.monotonic + .milliseconds(second * 1000 + 500)))
            for number in harness.ended where endings[number] == nil { endings[number] = Int64(second) }
        }
        #expect((1...7).map { endings[$0] } == [30, 10, 30, 2, 30, 30, 10])
        #expect((1...7).allSatisfy { harness.outcomes[$0] == .unknown(.timedOut) })
    }

    @Test func aSilentPeerIsAborted() throws {
        let harness = try PoolHarness {
            $0.requestTimeoutSeconds = 20
            $0.pingTimeoutSeconds = 5
            $0.drainGraceSeconds = 60
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.isSilent = true
        harness.send(5)
        harness.pass(.seconds(21))
        harness.apns.isSilent = false
        #expect(harness.outcomes.values.filter { $0 == .unknown(.timedOut) }.count == 5)
        harness.pass(.seconds(6))
        harness.send()
        #expect(harness.runUntilEnded(7))
        #expect(harness.apns.connections.count == 2)
    }

    @Test func anIdleConnectionIsPinged() throws {
        let harness = try PoolHarness { $0.idlePingSeconds = 60 }
        harness.send()
        #expect(harness.runUntilEnded(1))
        let before = harness.loop.network.connections[0].deliveredToServer
        harness.pass(.milliseconds(121_900))
        #expect(
            harness.loop.network.connections[0].deliveredToServer == before + 2 * 17,
            "bytes other than two PING frames were sent")
        harness.send()
        #expect(harness.runUntilEnded(2))
        #expect(harness.apns.connections.count == 1)
    }

    @Test func newSettingsCountAsActivity() throws {
        let harness = try PoolHarness { $0.idlePingSeconds = 60 }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.pass(.seconds(40))
        let before = harness.loop.network.connections[0].deliveredToServer
        harness.loop.enter { harness.apns.connections[0].server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        harness.pass(.seconds(40))
        #expect(
            harness.loop.network.connections[0].deliveredToServer == before + 9,
            "bytes other than the acknowledgment were sent")
    }

    @Test func aPeerWithoutSettingsIsAbortedAndItsPushesAreUnsent() throws {
        let harness = try PoolHarness {
            $0.settingsTimeoutSeconds = 5
            $0.waitSecondsMax = 20
        }
        harness.loop.enter { harness.apns.stop() }
        let mute = Mute()
        try harness.loop.enter { _ = try harness.loop.listen(on: FakeAPNS.endpoint) { $0.handler = mute } }
        for count in [3, 5] {
            harness.send(count - harness.outcomes.count)
            #expect(harness.runUntilEnded(count))
        }
        #expect(harness.outcomes.values.allSatisfy { $0 == .notSent(.noConnection) })
        #expect(harness.withPool { $0.waitingCount } == 0)
        #expect(mute.connections > 1)
    }

    @Test func slowConnectingDoesNotShortenTheSettingsTimeout() throws {
        let harness = try PoolHarness()
        // Connecting and SETTINGS take 6 s each.
        harness.loop.network.latencyMicroseconds = 6_000_000...6_000_000
        harness.send()
        harness.pass(.seconds(13))
        #expect(harness.events == [.connected])
    }

    @Test func connectingHasASeparateTimeout() throws {
        let harness = try PoolHarness()
        harness.loop.network.latencyMicroseconds = 9_000_000...9_000_000
        harness.send()
        harness.pass(.seconds(9))
        guard case .cannotConnect(let error, _, _) = harness.events.first else {
            Issue.record("\(harness.events)")
            return
        }
        let place = FakeAPNS.endpoint.description
        #expect(error == TransportError(.timedOut, "\(place): no connection within 8 s"))
    }

    @Test func connectingDoesNotStorm() throws {
        let harness = try PoolHarness { $0.waitSecondsMax = 3600 }
        harness.loop.enter { harness.apns.stop() }
        harness.send(3)
        for _ in 0..<10 {
            let before = harness.connects
            harness.pass(.seconds(60))
            let connects = harness.connects - before
            #expect(connects >= 6 && connects <= 12, "\(connects) connects in a minute")
        }
        try harness.loop.enter { try harness.apns.start() }
        #expect(harness.runUntilEnded(3))
        #expect((0..<3).allSatisfy(harness.isAccepted))
    }

    @Test func shortLivedConnectionsAreLimitedPerMinute() throws {
        let harness = try PoolHarness { $0.resendsMax = 1000 }
        harness.apns.onRequest = { connection, stream in
            connection.accept(stream)
            connection.server.goAway()
        }
        var first = harness.send()
        for _ in 0..<40 {
            #expect(harness.runUntilEnded(first + 1))
            first = harness.send()
        }
        let elapsed = harness.loop.now.monotonic.nanoseconds / 1_000_000_000
        #expect(elapsed >= 120, "forty connections were opened in \(elapsed) s")
    }

    @Test func invalidHeaderValuesAreNotSent() throws {
        let harness = try PoolHarness()
        harness.send(5) { number in
            switch number {
            case 0: PoolHarness.request(number, collapseID: "a\r\nb: c")
            case 1: PoolHarness.request(number, token: "xyz")
            case 2: PoolHarness.request(number, topic: " com.example")
            default:
                .broadcast(
                    channel: Array((number == 3 ? "a\nb" : "ab").utf8)[...],
                    bundleID: Array((number == 4 ? "com.example/\r" : "com.example").utf8),
                    id: UUIDValue(high: 0, low: 1), payload: Array("{}".utf8))
            }
        }
        #expect(harness.runUntilEnded(5))
        #expect(harness.outcomes.values.allSatisfy { $0 == .notSent(.malformed) })
    }

    @Test func theNumberOfWaitingPushesIsLimited() throws {
        let harness = try PoolHarness { $0.waitingMax = 10 }
        harness.apns.onRequest = { _, _ in }
        harness.send(30)
        harness.pass(.milliseconds(100))
        #expect(harness.outcomes.values.filter { $0 == .notSent(.overloaded) }.count >= 19)
        #expect(harness.withPool { $0.waitingCount } <= 10)
    }

    @Test func stopAcceptingFailsWaitingPushesAndFinishesPushesInFlight() throws {
        let harness = try PoolHarness { $0.streamsMax = 5 }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.onRequest = { _, _ in }
        harness.send(20)
        #expect(harness.run(until: { harness.apns.connections[0].open.count == 5 }))
        harness.withPool { $0.stopAccepting() }
        #expect(harness.runUntilEnded(16))
        #expect(harness.outcomes.values.filter { $0 == .notSent(.draining) }.count == 15)
        harness.send()
        #expect(harness.runUntilEnded(17))
        let connection = harness.apns.connections[0]
        harness.loop.enter { for stream in connection.open { connection.accept(stream) } }
        #expect(harness.runUntilEnded(22))
        #expect(harness.answers.filter { $0.status == 200 }.count == 6)
        harness.withPool { $0.close() }
        harness.pass(.seconds(1))
        #expect(harness.withPool { $0.connectionCount } == 0)
        #expect(connection.hasClosed)
    }

    @Test func closeMakesPushesInFlightUnknown() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { _, _ in }
        harness.send(3)
        harness.pass(.seconds(1))
        harness.withPool { $0.close() }
        #expect(harness.runUntilEnded(3))
        #expect(harness.outcomes[0] == .unknown(.connectionLost, silentConnection: 1))
        #expect(harness.outcomes[1] == .notSent(.draining))
        #expect(harness.withPool { $0.connectionCount } == 0)
    }
}

/// A peer that accepts connections and sends nothing.
private final class Mute: ByteStreamHandler {
    var connections = 0
    override func connected(_ transport: ByteTransport) { connections += 1 }
}
