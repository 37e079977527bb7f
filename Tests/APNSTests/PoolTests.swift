import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import Telemetry
import TestKit
import Testing

@testable import APNS

/// The pool against a scripted APNs.
@Suite struct PoolTests {
    @Test func aPushCarriesAllOfItsHeadersAndItsPayload() throws {
        let rig = try PoolRig()
        let payload = Array(#"xx{"aps":{}}yy"#.utf8)
        rig.send { _ in
            .device(
                token: Array("..00aaFF..".utf8)[2..<8], topic: Array("com.example.app.voip".utf8),
                pushType: .voip, priority: .immediate, expiration: 2_000_000_000,
                collapseID: Array("..score..".utf8)[2..<7],
                id: UUIDValue("0f8fad5b-d9cb-469f-a165-70867728950e") ?? UUIDValue(high: 0, low: 0),
                payload: payload, payloadRange: 2..<12)
        }
        #expect(rig.runUntilEnded(1))
        let request = try #require(rig.apns.requests.first)
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
        #expect(rig.isAccepted(0))
    }

    /// Rows 124, 131 and 133: what has to be said is said, whether anybody asked for it or not.
    @Test(arguments: [
        (Priority?.none, Int64?.none, "10", "0"), (.considerate, 2_000_000_000, "5", "2000000000"),
        (.immediate, 0, "10", "0"),
    ])
    func aBroadcastCarriesAllOfItsHeadersAndItsPayload(
        _ priority: Priority?, _ expiration: Int64?, saidPriority: String, saidExpiration: String
    ) throws {
        let rig = try PoolRig()
        let payload = Array(#"xx{"aps":{}}yy"#.utf8)
        let id = try #require(UUIDValue("0f8fad5b-d9cb-469f-a165-70867728950e"))
        rig.apns.onRequest = { connection, stream in
            connection.answer(stream, 200, uniqueID: "unique", requestID: "0F8FAD5B")
        }
        rig.send { _ in
            .broadcast(
                channel: Array("..dHN0LXNyY2gtY2hubA==..".utf8)[2..<22], bundleID: Array("com.example.app".utf8),
                priority: priority, expiration: expiration, id: id, payload: payload, payloadRange: 2..<12)
        }
        try #require(rig.runUntilEnded(1))
        let request = try #require(rig.apns.requests.first)
        let token = try #require(request["authorization"])
        #expect(
            request.headers.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: https", ":path: /4/broadcasts/apps/com.example.app",
                ":authority: api.test", "authorization: \(token)", "apns-channel-id: dHN0LXNyY2gtY2hubA==",
                "apns-push-type: liveactivity", "apns-request-id: 0f8fad5b-d9cb-469f-a165-70867728950e",
                "apns-priority: \(saidPriority)", "apns-expiration: \(saidExpiration)",
            ])
        #expect(request.body == Array(#"{"aps":{}}"#.utf8))
        #expect(
            rig.answer(0)
                == PushAnswer(status: 200, connection: 1, apnsUniqueID: "unique", apnsRequestID: "0F8FAD5B"))
    }

    @Test func aKeyThatMakesNoTokenIsToldOnce() throws {
        let log = try CapturedLog()
        let rig = try PoolRig(log: log.log) { $0.token.useSecondsMax = 0 }
        rig.send(20)
        #expect(rig.runUntilEnded(20))
        #expect(rig.outcomes.values.allSatisfy { $0 == .notSent(.noToken) })
        let lines = log.lines().filter { $0.contains("no provider token can be made") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""apns.key_id":"ABCDE12345""#) == true)
    }

    @Test func whatDiffersWithEachRequestIsNotIndexed() throws {
        let rig = try PoolRig()
        rig.send(2) { number in
            PoolRig.request(
                number, priority: .considerate, expiration: 2_000_000_000 + Int64(number), collapseID: "c\(number)")
        }
        #expect(rig.runUntilEnded(2))
        let neverIndexed = rig.apns.requests.map { $0.headers.filter(\.neverIndexed).map(\.name) }
        #expect(neverIndexed[0] == [":path", "authorization"], "the first puts the names into the table")
        #expect(neverIndexed[1] == [":path", "authorization", "apns-id", "apns-expiration", "apns-collapse-id"])
    }

    @Test func answersAreRead() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { connection, stream in
            switch connection.request(stream)?.number {
            case 0: connection.answer(stream, 200, uniqueID: "11111111-2222-3333-4444-555555555555")
            case 1: connection.answer(stream, 410, #"{"reason":"Unregistered","timestamp":1454948015990}"#)
            case 2: connection.answer(stream, 502, "<html>Bad gateway</html>")
            case 3: connection.answer(stream, 400, #"{"reas"#)
            default: connection.answer(stream, 410)
            }
        }
        rig.send(5)
        #expect(rig.runUntilEnded(5))
        #expect(
            rig.answer(0)
                == PushAnswer(status: 200, connection: 1, apnsUniqueID: "11111111-2222-3333-4444-555555555555"))
        #expect(
            rig.answer(1)
                == PushAnswer(
                    status: 410, reason: .unregistered, connection: 1, timestampMilliseconds: 1_454_948_015_990))
        #expect(
            rig.answer(2)
                == PushAnswer(
                    status: 502, reason: .unknown("<html>Bad gateway</html>"), isFromAPNS: false, connection: 1))
        #expect(
            rig.answer(3)
                == PushAnswer(status: 400, reason: .unknown(#"{"reas"#), connection: 1))
        #expect(rig.answer(4) == PushAnswer(status: 410, connection: 1))
    }

    /// Row 20: whatever its id, and in whatever case it is written.
    @Test func anAnswerIsThatOfItsStream() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { [unowned rig] connection, stream in
            let number = connection.request(stream)?.number ?? 0
            let other = rig.apns.requests.first { $0.number == 1 - number }
            connection.answer(
                stream, number == 0 ? 410 : 200,
                id: (other?["apns-id"] ?? "eabeae54-14a8-11e5-b60b-1697f925ec7b").uppercased())
        }
        rig.send(2)
        #expect(rig.runUntilEnded(2))
        #expect(rig.answers.map(\.status) == [410, 200] && rig.answers.allSatisfy(\.isFromAPNS))
    }

    /// 201, which is as good an answer as 200; and only a good one keeps its connection.
    @Test func aNewChannelIsReadWhateverElseTheAnswerSays() throws {
        let rig = try PoolRig { $0.serverErrorsMax = 2 }
        rig.apns.onRequest = { connection, stream in
            var headers = HeaderBlock()
            for (name, value) in [("apns-channel-id", "dHN0LXNyY2gtY2hubA=="), ("server", "somebody")] {
                headers.append(name: name, value: value)
            }
            connection.server.respond(stream, status: 201, headers: headers, body: [])
        }
        for count in 1...3 {
            rig.send { number in
                .channels(
                    .create(.newest), bundleID: Array("com.example.app".utf8),
                    id: UUIDValue(high: 0, low: UInt64(number)))
            }
            try #require(rig.runUntilEnded(count))
        }
        #expect(rig.answers.map(\.channel?.channelID) == Array(repeating: "dHN0LXNyY2gtY2hubA==", count: 3))
        #expect(rig.answers.map(\.connection) == [1, 1, 1])
    }

    @Test func whenToTryAgainIsRead() throws {
        let rig = try PoolRig()
        let written = ["7", "0", "-7", "7.5", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999999999999"]
        rig.apns.onRequest = { connection, stream in
            let number = connection.request(stream)?.number ?? 0
            connection.answer(stream, 429, #"{"reason":"TooManyRequests"}"#, retryAfter: written[number])
        }
        rig.send(written.count)
        #expect(rig.runUntilEnded(written.count))
        #expect(rig.answers.map(\.retryAfterSeconds) == [7, 0, nil, nil, nil, nil])
    }

    @Test func oneStreamUntilTheFirstAnswerAndThenAsManyAsAllowed() throws {
        let rig = try PoolRig { $0.streamsMax = 300 }
        rig.apns.onRequest = { _, _ in }
        rig.send(500)
        rig.pass(.seconds(2))
        let connection = rig.apns.connections[0]
        #expect(connection.requests.count == 1)
        rig.loop.enter { connection.accept(connection.requests[0].stream) }
        rig.pass(.seconds(2))
        #expect(connection.requests.count == 301)
        #expect(connection.openMax == 300)
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        rig.loop.enter { for stream in connection.open { connection.accept(stream) } }
        #expect(rig.runUntilEnded(500))
        #expect((0..<500).allSatisfy(rig.isAccepted))
        #expect(rig.apns.connections.count == 1)
    }

    @Test func anAnswerAboutTheTokenDoesNotOpenTheGate() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { connection, stream in
            connection.answer(stream, 403, #"{"reason":"Forbidden"}"#)
        }
        rig.send(20)
        #expect(rig.runUntilEnded(20))
        #expect(rig.apns.connections.allSatisfy { $0.openMax == 1 })
        #expect(rig.answers.map(\.reason) == Array(repeating: .forbidden, count: 20))
    }

    @Test func aLoweredLimitIsKeptWhileTheConnectionLives() throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        let connection = rig.apns.connections[0]
        rig.loop.enter { connection.server.update(HTTP2Settings(maxConcurrentStreams: 1)) }
        rig.pass(.seconds(1))
        connection.openMax = 0
        rig.send(50)
        #expect(rig.runUntilEnded(51))
        #expect(connection.openMax == 1)
        rig.loop.enter { connection.server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        rig.pass(.seconds(1))
        rig.send(50)
        #expect(rig.runUntilEnded(101))
        #expect(connection.openMax == 40)
    }

    @Test func aThousandInFlightOverTwoConnections() throws {
        let rig = try PoolRig {
            $0.connectionsMax = 2
            $0.streamsMax = 700
        }
        rig.send(5_000)
        #expect(rig.runUntilEnded(5_000))
        #expect((0..<5_000).allSatisfy(rig.isAccepted))
        #expect(rig.apns.connections.count == 2)
        #expect(Set(rig.apns.requests.compactMap { $0["apns-id"] }).count == 5_000)
        #expect(rig.apns.connections[1].requests.count > 100)
    }

    /// A peer that takes headers and gives no room for a body.
    @Test func aPeerWithoutAWindowKeepsAPushNoLongerThanItsTime() throws {
        let rig = try PoolRig { $0.waitingMax = 20 }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.settings = HTTP2Settings(maxConcurrentStreams: 10, initialWindowBytes: 0)
        rig.withPool { $0.retireConnections() }
        rig.send(25)
        #expect(rig.runUntilEnded(26))
        let outcomes = rig.outcomes.values
        #expect(outcomes.contains(.notSent(.overloaded)))
        #expect(outcomes.contains(.notSent(.notWritten(silentConnection: 2))), "no whole request has left")
        #expect(outcomes.count { if case .answered = $0 { true } else { false } } == 1)
    }

    /// The transport's buffer is full, then ours, and the rest is not made yet.
    @Test(arguments: [12, 60]) func whatAPeerThatReadsNothingWasNotSentIsNotTakenForSent(resumesAfter: Int64) throws {
        let rig = try PoolRig {
            ($0.requestTimeoutSeconds, $0.pingTimeoutSeconds, $0.waitSecondsMax) = (10, 5, 60)
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        let connection = rig.apns.connections[0]
        rig.loop.enter { connection.transport?.pauseReading() }
        var arrived: Set<Int> = []
        rig.apns.onRequest = { connection, stream in
            arrived.insert(connection.request(stream)?.number ?? 0)
            connection.accept(stream)
        }
        let total = 200
        rig.send(total) { PoolRig.request($0, alert: String(repeating: "x", count: 4000)) }
        rig.loop.enter {
            _ = rig.loop.schedule(after: .seconds(resumesAfter)) { connection.transport?.resumeReading() }
        }
        #expect(rig.runUntilEnded(1 + total))
        rig.pass(.seconds(resumesAfter))
        let unknown = (1...total).filter { rig.outcomes[$0] == .unknown(.timedOut) }
        let unwritten = (1...total).filter { rig.outcomes[$0] == .notSent(.notWritten(silentConnection: nil)) }
        #expect(unknown.count < total / 2 && unwritten.count > total / 4)
        #expect(arrived.isDisjoint(with: unwritten))
        #expect(unknown.count + unwritten.count + (1...total).count(where: rig.isAccepted) == total)
    }

    @Test func aConnectionLostInMidFlightLeavesTheOutcomeUnknown() throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.onRequest = { connection, _ in
            if connection.open.count == 100 { connection.server.abort() }
        }
        rig.send(100)
        #expect(rig.runUntilEnded(101))
        #expect((1...100).allSatisfy { rig.outcomes[$0] == .unknown(.connectionLost) })
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        let lost = rig.loop.now.monotonic
        rig.send()
        #expect(rig.runUntilEnded(102))
        #expect(rig.isAccepted(101), "a new connection is opened on demand")
        #expect(lost.duration(to: rig.loop.now.monotonic) < .seconds(1), "at once: the first had proved itself")
    }

    enum Ending: CaseIterable {
        case reset, goAway
    }

    @Test(arguments: Ending.allCases, [Credential.key(PoolRig.key), .certificate("com.example.app")])
    func connectionsThatEndUnansweredAreToldOfAndGetFewPushes(_ ending: Ending, _ credential: Credential) throws {
        let rig = try PoolRig {
            ($0.credential, $0.streamsMax, $0.connectionsMax) = (credential, 100, 1)
        }
        rig.apns.onRequest = { connection, _ in
            switch ending {
            case .reset: connection.server.abort()
            case .goAway: connection.server.goAway(lastStreamID: 0)
            }
        }
        rig.send(300)
        var counts: [Int] {
            rig.events.compactMap { if case .endedUnanswered(_, let count) = $0 { count } else { nil } }
        }
        let began = rig.loop.now.monotonic
        #expect(rig.run { counts.count == 4 })
        #expect(counts == [1, 2, 3, 4])
        #expect(began.duration(to: rig.loop.now.monotonic) > .seconds(1), "each is waited for longer")
        // The second may be opened at a GOAWAY, before the first has ended.
        #expect(rig.apns.connections.dropFirst(2).allSatisfy { $0.requests.count <= 1 })
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        #expect(rig.runUntilEnded(300))
        #expect(rig.withPool { $0.isAuthenticated })
        rig.loop.enter { rig.apns.connections.last?.server.abort() }
        rig.pass(.seconds(1))
        #expect(rig.events.last == .lost(isIdle: true) && counts.count == 4, "an idle connection may end")
    }

    @Test func refusedStreamsAreSentAgainAndNotForEver() throws {
        let rig = try PoolRig { $0.resendsMax = 3 }
        rig.send()
        #expect(rig.runUntilEnded(1))
        var refusals = 0
        rig.apns.onRequest = { connection, stream in
            refusals += 1
            if refusals <= 10 { connection.server.reset(stream, .refusedStream) } else { connection.accept(stream) }
        }
        rig.send(10)
        #expect(rig.runUntilEnded(11))
        #expect((0...10).allSatisfy(rig.isAccepted))
        refusals = Int.min
        rig.send()
        #expect(rig.runUntilEnded(12))
        #expect(rig.outcomes[11] == .notSent(.refused))
        #expect(refusals == Int.min + 4)
    }

    @Test func aConnectionThatOnlyFailsIsReplaced() throws {
        let rig = try PoolRig {
            $0.connectionsMax = 1
            $0.serverErrorsMax = 5
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        let first = try #require(rig.apns.connections.first)
        rig.apns.onRequest = { connection, stream in
            if connection === first { connection.answer(stream, 500) } else { connection.accept(stream) }
        }
        for count in 2...8 {
            rig.send()
            #expect(rig.runUntilEnded(count))
        }
        #expect((1...5).allSatisfy { rig.answer($0)?.status == 500 })
        #expect((6...7).allSatisfy(rig.isAccepted))
        rig.pass(.seconds(1))
        #expect(first.hasClosed)
    }

    @Test func aConnectionThatFailsNowAndThenIsKept() throws {
        let rig = try PoolRig {
            $0.connectionsMax = 1
            $0.serverErrorsMax = 5
        }
        var count = 0
        rig.apns.onRequest = { connection, stream in
            count += 1
            if count % 5 == 0 { connection.accept(stream) } else { connection.answer(stream, 500) }
        }
        for count in 1...15 {
            rig.send()
            #expect(rig.runUntilEnded(count))
        }
        rig.pass(.seconds(1))
        #expect(rig.apns.connections.count == 1 && !rig.apns.connections[0].hasClosed)
    }

    /// Nothing was processed, and which refusal it was is not known.
    @Test func aRefusalThatWasCutOffIsAskedForAgain() throws {
        let rig = try PoolRig()
        let body = String(repeating: " ", count: 2000) + #"{"reason":"BadTopic"}"#
        rig.apns.onRequest = { [unowned rig] connection, stream in
            guard connection === rig.apns.connections[0] else { return connection.accept(stream) }
            rig.loop.network.connections[0].cut(after: 1000, .toClient)
            connection.answer(stream, 400, body)
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        #expect(rig.isAccepted(0))
        #expect(rig.resent == 1)
    }

    @Test func anAcceptanceWhoseEndDoesNotComeIsOne() throws {
        let rig = try PoolRig { $0.requestTimeoutSeconds = 10 }
        rig.apns.onRequest = { connection, stream in
            connection.answer(stream, 200, String(repeating: " ", count: 1_000_000))
            // It will not read that there is room for more.
            connection.apns.isSilent = true
        }
        rig.send()
        rig.pass(.seconds(9))
        #expect(rig.outcomes.isEmpty)
        #expect(rig.runUntilEnded(1))
        #expect(rig.isAccepted(0))
    }

    @Test func otherResetsLeaveTheOutcomeUnknown() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { connection, stream in connection.server.reset(stream, .internalError) }
        rig.send()
        #expect(rig.runUntilEnded(1))
        #expect(rig.outcomes[0] == .unknown(.streamReset(.internalError), silentConnection: 1))
    }

    @Test func aRequestWithoutAnAnswerTimesOutAndItsLateAnswerIsIgnored() throws {
        let rig = try PoolRig { $0.requestTimeoutSeconds = 30 }
        rig.apns.onRequest = { connection, stream in
            if connection.request(stream)?.number != 1 { connection.accept(stream) }
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.send(3)
        rig.pass(.seconds(29))
        #expect(rig.outcomes.count == 3)
        let connection = rig.apns.connections[0]
        let silent = connection.requests[1]
        // The answer leaves just as the time is up: both cross.
        rig.loop.enter {
            _ = rig.loop.schedule(after: .milliseconds(1000)) { connection.accept(silent.stream) }
        }
        rig.pass(.seconds(3))
        #expect(rig.outcomes[1] == .unknown(.timedOut))
        #expect(rig.outcomes.count == 4)
        #expect(rig.statistics.endedLate == 1)
        rig.send()
        #expect(rig.runUntilEnded(5))
        #expect(rig.apns.connections.count == 1, "the connection lives")
    }

    /// An answer is waited for no longer than the push is of use, whatever was sent before it.
    @Test func anAnswerIsWaitedForAsLongAsThePushIsOfUse() throws {
        let rig = try PoolRig { $0.requestTimeoutSeconds = 30 }
        rig.send()
        try #require(rig.runUntilEnded(1))
        rig.apns.onRequest = { _, _ in }
        let now = rig.loop.now
        let expirations: [Int64?] = [nil, 10, 100, 1, 0, .max, 10]
        rig.send(7) { number in
            let expiration = expirations[number - 1].map { $0 == 0 || $0 == .max ? $0 : now.unixSeconds + $0 }
            return PoolRig.request(number, expiration: expiration)
        }
        var endings: [Int: Int64] = [:]
        for second in 1...31 {
            rig.pass(rig.loop.now.monotonic.duration(to: now.monotonic + .milliseconds(second * 1000 + 500)))
            for number in rig.ended where endings[number] == nil { endings[number] = Int64(second) }
        }
        #expect((1...7).map { endings[$0] } == [30, 10, 30, 2, 30, 30, 10])
        #expect((1...7).allSatisfy { rig.outcomes[$0] == .unknown(.timedOut) })
    }

    @Test func aPeerThatFallsSilentIsGivenUp() throws {
        let rig = try PoolRig {
            $0.requestTimeoutSeconds = 20
            $0.pingTimeoutSeconds = 5
            $0.drainGraceSeconds = 60
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.isSilent = true
        rig.send(5)
        rig.pass(.seconds(21))
        rig.apns.isSilent = false
        #expect(rig.outcomes.values.filter { $0 == .unknown(.timedOut) }.count == 5)
        rig.pass(.seconds(6))
        rig.send()
        #expect(rig.runUntilEnded(7))
        #expect(rig.apns.connections.count == 2)
    }

    @Test func anIdleConnectionIsAskedForASignOfLife() throws {
        let rig = try PoolRig { $0.idlePingSeconds = 60 }
        rig.send()
        #expect(rig.runUntilEnded(1))
        let before = rig.loop.network.connections[0].deliveredToServer
        rig.pass(.milliseconds(121_900))
        #expect(rig.loop.network.connections[0].deliveredToServer == before + 2 * 17, "two PING frames")
        rig.send()
        #expect(rig.runUntilEnded(2))
        #expect(rig.apns.connections.count == 1)
    }

    @Test func newSettingsAreASignOfLife() throws {
        let rig = try PoolRig { $0.idlePingSeconds = 60 }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.pass(.seconds(40))
        let before = rig.loop.network.connections[0].deliveredToServer
        rig.loop.enter { rig.apns.connections[0].server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        rig.pass(.seconds(40))
        #expect(rig.loop.network.connections[0].deliveredToServer == before + 9, "their acknowledgement alone")
    }

    @Test func aPeerWithoutSettingsIsGivenUpAndItsPushesAreGivenBack() throws {
        let rig = try PoolRig {
            $0.settingsTimeoutSeconds = 5
            $0.waitSecondsMax = 20
        }
        rig.loop.enter { rig.apns.stop() }
        let mute = Mute()
        try rig.loop.enter { _ = try rig.loop.listen(on: FakeAPNS.endpoint) { $0.handler = mute } }
        for count in [3, 5] {
            rig.send(count - rig.outcomes.count)
            #expect(rig.runUntilEnded(count))
        }
        #expect(rig.outcomes.values.allSatisfy { $0 == .notSent(.noConnection) })
        #expect(rig.withPool { $0.waitingCount } == 0)
        #expect(mute.connections > 1)
    }

    @Test func slowConnectingLeavesTheWholeTimeForSettings() throws {
        let rig = try PoolRig()
        // Connecting and SETTINGS take 6 s each.
        rig.loop.network.latencyMicroseconds = 6_000_000...6_000_000
        rig.send()
        rig.pass(.seconds(13))
        #expect(rig.events == [.connected])
    }

    @Test func connectingHasALimitOfItsOwn() throws {
        let rig = try PoolRig()
        rig.loop.network.latencyMicroseconds = 9_000_000...9_000_000
        rig.send()
        rig.pass(.seconds(9))
        guard case .cannotConnect(let error, _, _) = rig.events.first else {
            Issue.record("\(rig.events)")
            return
        }
        let place = FakeAPNS.endpoint.description
        #expect(error == TransportError(.timedOut, "\(place): no connection within 8 s"))
    }

    @Test func connectingDoesNotStorm() throws {
        let rig = try PoolRig { $0.waitSecondsMax = 3600 }
        rig.loop.enter { rig.apns.stop() }
        rig.send(3)
        for _ in 0..<10 {
            let before = rig.connects
            rig.pass(.seconds(60))
            let connects = rig.connects - before
            #expect(connects >= 6 && connects <= 12, "\(connects) connects in a minute")
        }
        try rig.loop.enter { try rig.apns.start() }
        #expect(rig.runUntilEnded(3))
        #expect((0..<3).allSatisfy(rig.isAccepted))
    }

    @Test func connectionsThatDieYoungAreLimitedByTheMinute() throws {
        let rig = try PoolRig { $0.resendsMax = 1000 }
        rig.apns.onRequest = { connection, stream in
            connection.accept(stream)
            connection.server.goAway()
        }
        var first = rig.send()
        for _ in 0..<40 {
            #expect(rig.runUntilEnded(first + 1))
            first = rig.send()
        }
        let elapsed = rig.loop.now.monotonic.nanoseconds / 1_000_000_000
        #expect(elapsed >= 120, "forty connections, twelve a minute: \(elapsed) s")
    }

    @Test func whatCannotStandInAHeaderIsNotSent() throws {
        let rig = try PoolRig()
        rig.send(5) { number in
            switch number {
            case 0: PoolRig.request(number, collapseID: "a\r\nb: c")
            case 1: PoolRig.request(number, token: "xyz")
            case 2: PoolRig.request(number, topic: " com.example")
            default:
                .broadcast(
                    channel: Array((number == 3 ? "a\nb" : "ab").utf8)[...],
                    bundleID: Array((number == 4 ? "com.example/\r" : "com.example").utf8),
                    id: UUIDValue(high: 0, low: 1), payload: Array("{}".utf8))
            }
        }
        #expect(rig.runUntilEnded(5))
        #expect(rig.outcomes.values.allSatisfy { $0 == .notSent(.malformed) })
    }

    @Test func theNumberOfWaitingPushesIsLimited() throws {
        let rig = try PoolRig { $0.waitingMax = 10 }
        rig.apns.onRequest = { _, _ in }
        rig.send(30)
        rig.pass(.milliseconds(100))
        #expect(rig.outcomes.values.filter { $0 == .notSent(.overloaded) }.count >= 19)
        #expect(rig.withPool { $0.waitingCount } <= 10)
    }

    @Test func stopAcceptingGivesBackWhatWaitsAndFinishesWhatWasSent() throws {
        let rig = try PoolRig { $0.streamsMax = 5 }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.onRequest = { _, _ in }
        rig.send(20)
        #expect(rig.run(until: { rig.apns.connections[0].open.count == 5 }))
        rig.withPool { $0.stopAccepting() }
        #expect(rig.runUntilEnded(16))
        #expect(rig.outcomes.values.filter { $0 == .notSent(.draining) }.count == 15)
        rig.send()
        #expect(rig.runUntilEnded(17))
        let connection = rig.apns.connections[0]
        rig.loop.enter { for stream in connection.open { connection.accept(stream) } }
        #expect(rig.runUntilEnded(22))
        #expect(rig.answers.filter { $0.status == 200 }.count == 6)
        rig.withPool { $0.close() }
        rig.pass(.seconds(1))
        #expect(rig.withPool { $0.connectionCount } == 0)
        #expect(connection.hasClosed)
    }

    @Test func closeEndsWhatIsOpenAsUnknown() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { _, _ in }
        rig.send(3)
        rig.pass(.seconds(1))
        rig.withPool { $0.close() }
        #expect(rig.runUntilEnded(3))
        #expect(rig.outcomes[0] == .unknown(.connectionLost, silentConnection: 1))
        #expect(rig.outcomes[1] == .notSent(.draining))
        #expect(rig.withPool { $0.connectionCount } == 0)
    }
}

/// Accepts connections and says nothing.
private final class Mute: ByteStreamHandler {
    var connections = 0
    override func connected(_ transport: ByteTransport) { connections += 1 }
}
