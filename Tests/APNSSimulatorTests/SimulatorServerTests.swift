import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import Testing

@testable import APNSSimulator

private let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"

@Suite struct SimulatorServerTests {
    @Test func aPushAndItsAnswer() throws {
        let apns = try VirtualAPNS()
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        #expect(client.streamsMax == [1])
        #expect(client.session.peerSettings?.maxHeaderListBytes == 8000)

        let stream = try #require(apns.loop.enter { client.push(id: id) })
        apns.settle()
        let answer = try #require(client.answers[stream.id])
        #expect(answer.status == 200)
        #expect(answer.headers["apns-id"] == id)
        #expect(UUIDValue(answer.headers["apns-unique-id"] ?? "") != nil)
        #expect(answer.headers.count == 2)
        #expect(answer.body.isEmpty)
        #expect(answer.end == .complete)
        #expect(client.streamsMax == [1, 1000])
    }

    @Test func productionSendsNoUniqueID() throws {
        let apns = try VirtualAPNS(service: .productionPush)
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        let stream = try #require(apns.loop.enter { client.push(id: id) })
        apns.settle()
        #expect(client.answers[stream.id]?.headers == ["apns-id": id])
    }

    @Test func idsAreReturnedAsSentOrCreated() throws {
        let apns = try VirtualAPNS { _, state in state.rules.gate = .off }
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        let upper = try #require(apns.loop.enter { client.push(id: id.uppercased()) })
        let none = try #require(apns.loop.enter { client.push(id: nil) })
        let bad = try #require(apns.loop.enter { client.push(id: "mine") })
        apns.settle()
        #expect(client.answers[upper.id]?.headers["apns-id"] == id.uppercased())
        let made = try #require(client.answers[none.id]?.headers["apns-id"])
        #expect(UUIDValue(made) != nil && made == made.uppercased())
        #expect(client.answers[bad.id]?.body == #"{"reason":"BadMessageId"}"#)
        #expect(UUIDValue(client.answers[bad.id]?.headers["apns-id"] ?? "") != nil)
        #expect(apns.server.counters.requestsWithoutID == 2)
    }

    @Test func refusalsHaveAJSONBody() throws {
        let apns = try VirtualAPNS { configuration, state in
            state.rules.gate = .off
            state.deviceRules = [DeviceRule(prefix: "dead", condition: .unregistered(sinceMilliseconds: 12))]
        }
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        let gone = try #require(apns.loop.enter { client.push(to: "dead01", id: id) })
        let bad = try #require(apns.loop.enter { client.push(to: "xyz", id: id) })
        apns.settle()
        #expect(client.answers[gone.id]?.status == 410)
        #expect(client.answers[gone.id]?.headers["content-type"] == "application/json")
        #expect(client.answers[gone.id]?.body == #"{"reason":"Unregistered","timestamp":12}"#)
        #expect(client.answers[bad.id]?.status == 400)
        #expect(client.answers[bad.id]?.body == #"{"reason":"BadDeviceToken"}"#)
        #expect(apns.server.counters.refusedByReason == ["Unregistered": 1, "BadDeviceToken": 1])
        #expect(apns.server.counters.refusedByStatus == [410: 1, 400: 1])
    }

    @Test func streamsBeforeTheFirstAnswerAreRefused() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.answerDelay = .milliseconds(10) }
        let client = apns.connectRaw()
        #expect(apns.run { client.frames == ["SETTINGS streams=1"] })
        apns.loop.enter {
            for stream in [1, 3, 5] as [UInt32] { client.push(stream: stream, id: id) }
        }
        apns.settle()
        #expect(
            Set(client.frames.dropFirst()) == [
                "RST_STREAM 3 7", "RST_STREAM 5 7", "HEADERS 1 end", "SETTINGS streams=1000",
            ])
        #expect(apns.server.counters.streamsRefused == 2)
        #expect(apns.server.counters.requests == 1)
        #expect(apns.server.counters.inFlight == 0)

        apns.loop.enter { for stream in [7, 9] as [UInt32] { client.push(stream: stream, id: id) } }
        apns.settle()
        #expect(client.frames.suffix(2).sorted() == ["HEADERS 7 end", "HEADERS 9 end"])
        #expect(apns.server.counters.streamsRefused == 2)
    }

    @Test func streamsAreCountedWhetherOrNotSettingsAreAcknowledged() throws {
        for acknowledges in [true, false] {
            let apns = try VirtualAPNS { configuration, state in
                state.rules.streamsMax = 2
                configuration.answerDelay = .seconds(1)
            }
            let client = apns.connectRaw()
            #expect(apns.run { !client.frames.isEmpty })
            apns.loop.enter {
                if acknowledges { client.acknowledgeSettings() }
                client.push(stream: 1, id: id)
            }
            apns.settle()
            apns.loop.enter {
                if acknowledges { client.acknowledgeSettings() }
                for stream in [3, 5, 7] as [UInt32] { client.push(stream: stream, id: id) }
            }
            apns.settle()
            #expect(client.frames.contains("RST_STREAM 7 7"))
            #expect(client.frames.filter { $0.hasPrefix("HEADERS") }.count == 3)
        }
    }

    @Test func aRefusedTokenLeavesTheGateShut() throws {
        let apns = try VirtualAPNS { _, state in state.revokeKey(id: "KEY0000001") }
        let client = apns.connectRaw()
        #expect(apns.run { !client.frames.isEmpty })
        apns.loop.enter { client.push(stream: 1, id: id) }
        apns.settle()
        #expect(
            client.frames == [
                "SETTINGS streams=1", "HEADERS 1", #"DATA 1 {"reason":"InvalidProviderToken"} end"#,
            ])
    }

    @Test func aClientThatIgnoresTheGateCanBeServed() throws {
        let apns = try VirtualAPNS { _, state in state.rules.gate = .announce }
        let client = apns.connectRaw()
        #expect(apns.run { client.frames == ["SETTINGS streams=1"] })
        apns.loop.enter { for stream in [1, 3, 5] as [UInt32] { client.push(stream: stream, id: id) } }
        apns.settle()
        #expect(client.frames.filter { $0.hasPrefix("HEADERS") }.count == 3)
        #expect(apns.server.counters.streamsRefused == 0)
    }

    @Test func answersAreDelayed() throws {
        let apns = try VirtualAPNS { configuration, state in
            state.rules.gate = .off
            configuration.answerDelay = .milliseconds(100)
        }
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        let start = apns.loop.now.monotonic
        apns.loop.enter { for _ in 0..<500 { client.push(id: nil) } }
        #expect(apns.run { client.answers.values.contains { $0.end != nil } })
        #expect(start.duration(to: apns.loop.now.monotonic) >= .milliseconds(100))
        #expect(apns.run { client.answers.values.filter { $0.end == .complete }.count == 500 })
        #expect(start.duration(to: apns.loop.now.monotonic) < .milliseconds(150))
        #expect(apns.server.counters.inFlightMax == 500)
        #expect(apns.server.counters.inFlight == 0)
    }

    @Test func requestsResetWhileWaitingWereProcessed() throws {
        let apns = try VirtualAPNS { configuration, state in
            state.rules.gate = .off
            configuration.answerDelay = .milliseconds(100)
        }
        let client = apns.connectRaw()
        #expect(apns.run { !client.frames.isEmpty })
        apns.loop.enter {
            client.push(stream: 1, id: id)
            client.push(stream: 3, id: id)
            client.reset(stream: 1)
        }
        apns.settle()
        #expect(client.frames.contains("HEADERS 3 end"))
        #expect(!client.frames.contains { $0.hasPrefix("HEADERS 1") })
        #expect(apns.server.counters.requestsAbandoned == 1)
        #expect(apns.server.counters.inFlight == 0)
        #expect(apns.requests.map(\.stream) == [1, 3])
    }

    @Test func aLostConnectionAbandonsItsRequests() throws {
        let apns = try VirtualAPNS { configuration, state in
            state.rules.gate = .off
            configuration.answerDelay = .milliseconds(100)
        }
        let client = apns.connectRaw()
        #expect(apns.run { !client.frames.isEmpty })
        apns.loop.enter {
            client.push(stream: 1, id: id)
            client.push(stream: 3, id: id, body: nil)
        }
        #expect(apns.run { apns.server.counters.inFlight == 1 })
        apns.loop.enter { client.transport?.reset() }
        apns.settle()
        #expect(apns.server.counters.requestsAbandoned == 1)
        #expect(apns.server.counters.inFlight == 0)
        #expect(apns.server.counters.connectionsOpen == 0)
    }

    @Test func logsRequests() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.requestsLoggedMax = 2 }
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        let other = "11111111-2222-4333-8444-555555555555"
        for id in [id, other, id] {
            apns.loop.enter { _ = client.push(id: id, body: "{\"id\":\"\(id)\"}") }
            apns.settle()
        }
        #expect(apns.server.counters.distinctIDs == 2)
        #expect(apns.server.counters.duplicateIDs == 1)
        #expect(apns.server.counters.tokensVerified == 1)
        #expect(apns.server.memory.hasSeen(try #require(UUIDValue(other))))
        let logged = apns.requests
        #expect(logged.map(\.number) == [2, 3])
        #expect(logged.map { "\($0.apnsID?.description ?? "-")" } == [other, id])
        #expect(logged[0].payloadHash == withBytes("{\"id\":\"\(other)\"}") { SHA256Value(of: $0) })
        #expect(logged[0].shortDeviceToken == "01234567…+56")
        #expect(logged[0].topic == "com.example.app")
        #expect(logged[0].status == 200 && logged[0].reason == nil)
    }

    @Test func callsTheHandlerForEachRequest() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.requestsLoggedMax = 0 }
        var seen: [String] = []
        apns.server.memory.onRequest = { request, payload in
            seen.append("\(request.number) \(request.status ?? 0) \(String(decoding: payload, as: UTF8.self))")
        }
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        apns.loop.enter { _ = client.push(id: id, body: "{}") }
        apns.settle()
        #expect(seen == ["1 200 {}"])
    }

    @Test func equalSeedsGiveEqualHistories() throws {
        func history() throws -> [String] {
            let apns = try VirtualAPNS(seed: 7)
            let client = apns.connect()
            #expect(apns.run { !client.streamsMax.isEmpty })
            let stream = try #require(apns.loop.enter { client.push(id: nil) })
            apns.settle()
            return client.answers[stream.id]?.headers.map { "\($0.key) \($0.value)" }.sorted() ?? []
        }
        let first = try history()
        #expect(try first == history() && first.count == 2)
    }

    @Test func shutdownAnswersOpenRequestsAndCloses() throws {
        let apns = try VirtualAPNS { configuration, state in
            state.rules.gate = .off
            configuration.answerDelay = .milliseconds(100)
        }
        let client = apns.connect()
        #expect(apns.run { !client.streamsMax.isEmpty })
        let stream = try #require(apns.loop.enter { client.push(id: id) })
        #expect(apns.run { apns.server.counters.inFlight == 1 })
        apns.loop.enter { apns.server.shutDown() }
        apns.settle()
        #expect(client.goAways == [#"1 NO_ERROR {"reason":"Shutdown"}"#])
        #expect(client.answers[stream.id]?.status == 200)
        #expect(client.isClosed)
        #expect(apns.server.counters.connectionsOpen == 0)
        let late = apns.connectRaw()
        apns.settle()
        #expect(late.isClosed && late.frames.isEmpty)
    }

    @Test func connectionsAboveTheLimitAreReset() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.connectionsMax = 2 }
        let clients = (0..<3).map { _ in apns.connectRaw() }
        apns.settle()
        #expect(clients.filter(\.isClosed).count == 1)
        #expect(apns.server.counters.connectionsOpenMax == 2)
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func garbageClosesOnlyItsConnection(seed: UInt64) throws {
        let apns = try VirtualAPNS(seed: seed) { _, state in state.rules.gate = .off }
        let good = apns.connect()
        #expect(apns.run { !good.streamsMax.isEmpty })
        var random = SeededRandom(seed: seed)
        let bad = apns.connectRaw()
        #expect(apns.run { bad.transport != nil })
        apns.loop.enter {
            for stream in [1, 3] as [UInt32] { bad.push(stream: stream, id: id) }
            bad.write((0..<random.below(300)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
        apns.settle()
        let stream = try #require(apns.loop.enter { good.push(id: id) })
        apns.settle()
        #expect(good.answers[stream.id]?.status == 200)
        #expect(apns.server.counters.inFlight == 0)
    }
}
