import APNSProtocol
import EventLoop
import HTTP2
import Testing

@testable import APNS

/// What a lane asks of its pools: order, fresh connections, probing, and what it hears of connections.
@Suite struct PoolLaneTests {
    @Test func theLowestPriorityNumberGoesFirst() throws {
        let rig = try PoolRig { $0.streamsMax = 1 }
        rig.apns.onRequest = { _, _ in }
        rig.send()
        #expect(rig.run(until: { rig.apns.requests.count == 1 }))
        rig.send(2, priority: 3)
        rig.send(2, priority: 1)
        rig.send(2, priority: 0)
        rig.send(1, priority: 99)
        rig.send(1, priority: -1)
        rig.pass(.milliseconds(1))
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        rig.loop.enter { rig.apns.connections[0].open.forEach(rig.apns.connections[0].accept) }
        #expect(rig.runUntilEnded(9))
        #expect(rig.apns.requests.map(\.number) == [0, 5, 6, 8, 3, 4, 1, 2, 7])
    }

    /// APNs answers what was sent together at about the same time: whoever came between would wait for all of it.
    @Test func whatIsLessUrgentLeavesStreamsFree() throws {
        let rig = try PoolRig { $0.streamsMax = 20 }
        rig.send(1, priority: 1)
        #expect(rig.runUntilEnded(1))
        rig.apns.onRequest = { _, _ in }
        rig.send(50, priority: 1)
        rig.pass(.milliseconds(10))
        #expect(rig.apns.requests.count == 1 + 18)
        rig.send(3)
        rig.pass(.milliseconds(10))
        #expect(rig.apns.requests.dropFirst(1 + 18).map(\.number) == [51, 52])
        rig.loop.enter { rig.apns.connections[0].accept(rig.apns.connections[0].open[0]) }
        rig.pass(.milliseconds(10))
        #expect(rig.apns.requests.dropFirst(1 + 20).map(\.number) == [53])
        rig.loop.enter { rig.apns.connections[0].open.prefix(3).forEach(rig.apns.connections[0].accept) }
        rig.pass(.milliseconds(10))
        #expect(rig.apns.requests.count == 1 + 21 + 1, "18 of those that may wait")
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        rig.loop.enter { rig.apns.connections[0].open.forEach(rig.apns.connections[0].accept) }
        #expect(rig.runUntilEnded(54))
    }

    @Test func whatExpiresWhileItWaitsIsNotSent() throws {
        let rig = try PoolRig { $0.streamsMax = 1 }
        rig.apns.onRequest = { _, _ in }
        rig.send()
        #expect(rig.run(until: { rig.apns.requests.count == 1 }))
        let now = rig.loop.now.unixSeconds
        rig.send { PoolRig.request($0, expiration: now + 3) }
        rig.send { PoolRig.request($0, expiration: 0) }
        rig.send { PoolRig.request($0, expiration: now + 60) }
        rig.pass(.seconds(4))
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        rig.loop.enter { rig.apns.connections[0].open.forEach(rig.apns.connections[0].accept) }
        #expect(rig.runUntilEnded(4))
        #expect(rig.outcomes[1] == .notSent(.expired))
        #expect(rig.isAccepted(2) && rig.isAccepted(3))
        #expect(rig.apns.requests.map(\.number) == [0, 2, 3])
    }

    /// Without a connection, too, and whatever came before it: it holds a place that others could have.
    @Test func aPushWaitsNoLongerThanItIsOfUse() throws {
        let rig = try PoolRig()
        rig.loop.enter { rig.apns.stop() }
        let now = rig.loop.now
        let expirations: [Int64?] = [nil, 60, 5, 0, 2, 5, .max, 1, -1]
        for (index, left) in expirations.enumerated() {
            let expiration = left.map { $0 == 0 || $0 == .max ? $0 : now.unixSeconds + $0 }
            rig.send(priority: index % 3, onFreshConnection: index == 5) { PoolRig.request($0, expiration: expiration) }
        }
        var endings: [Int: Int64] = [:]
        for second in 0...31 {
            rig.pass(rig.loop.now.monotonic.duration(to: now.monotonic + .milliseconds(second * 1000 + 500)))
            for number in rig.ended where endings[number] == nil { endings[number] = Int64(second) }
        }
        #expect(expirations.indices.map { endings[$0] } == [30, 30, 5, 30, 2, 5, 30, 1, 0])
        #expect(
            expirations.indices.map { rig.outcomes[$0] == .notSent(.expired) } == [
                false, false, true, false, true, true, false, true, true,
            ])
        #expect(rig.withPool { $0.waitingCount } == 0)
    }

    /// One that has expired while it waited holds up none of those behind it.
    @Test(arguments: [false, true]) func whoExpiresLeavesItsPlaceInTheLine(onFreshConnection: Bool) throws {
        let rig = try PoolRig()
        rig.loop.enter { rig.apns.stop() }
        let expiration = rig.loop.now.unixSeconds + 2
        rig.send(onFreshConnection: onFreshConnection) { PoolRig.request($0, expiration: expiration) }
        rig.send(onFreshConnection: onFreshConnection)
        rig.pass(.seconds(5))
        try rig.loop.enter { try rig.apns.start() }
        #expect(rig.runUntilEnded(2))
        #expect(rig.outcomes[0] == .notSent(.expired) && rig.isAccepted(1))
    }

    @Test func aFreshPushBeginsAConnectionWhichTakesThePlaceOfTheOthers() throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.send(1, onFreshConnection: true)
        #expect(rig.runUntilEnded(2))
        #expect(rig.answer(0)?.connection == 1 && rig.answer(1)?.connection == 2)
        rig.pass(.seconds(1))
        #expect(rig.apns.connections[0].hasClosed)
        rig.send(10)
        #expect(rig.runUntilEnded(12))
        #expect((2..<12).allSatisfy { rig.answer($0)?.connection == 2 && rig.isAccepted($0) })
        #expect(rig.apns.connections.count == 2)
    }

    /// APNs has bound the connection to the topic of its first push.
    @Test(arguments: [Credential.key(PoolRig.key), .certificate("com.example.app")])
    func newSettingsPutNoOtherPushOnAFreshConnection(_ credential: Credential) throws {
        let rig = try PoolRig { $0.credential = credential }
        rig.apns.onRequest = { _, _ in }
        rig.send(2, onFreshConnection: true)
        #expect(rig.run(until: { rig.apns.requests.count == 1 }))
        let first = rig.apns.connections[0]
        rig.loop.enter { first.server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        rig.pass(.seconds(1))
        #expect(first.requests.count == 1)
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        rig.loop.enter { first.accept(first.requests[0].stream) }
        #expect(rig.runUntilEnded(2))
        #expect(rig.answers.map(\.connection).sorted() == [1, 2])
    }

    /// Nor one of those that take any.
    @Test func newSettingsLeaveAFreshConnectionToItsPush() throws {
        let rig = try PoolRig { $0.credential = .certificate("com.example.app") }
        rig.apns.onRequest = { _, _ in }
        rig.send(1, onFreshConnection: true)
        #expect(rig.run(until: { rig.apns.requests.count == 1 }))
        let first = rig.apns.connections[0]
        rig.loop.enter { first.server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        rig.pass(.seconds(1))
        rig.send(5)
        rig.pass(.seconds(1))
        #expect(first.requests.count == 1)
    }

    @Test func aFreshPushThatIsRefusedLeavesTheOthersAlone() throws {
        let rig = try PoolRig { $0.streamsMax = 10 }
        rig.send()
        #expect(rig.runUntilEnded(1))
        var held: HTTP2Stream?
        rig.apns.onRequest = { [unowned rig] connection, stream in
            if connection === rig.apns.connections[0] { connection.accept(stream) } else { held = stream }
        }
        rig.send(1, onFreshConnection: true)
        #expect(rig.run(until: { held != nil }))
        rig.send(30)
        #expect(rig.runUntilEnded(31))
        rig.loop.enter {
            if let held { rig.apns.connections[1].answer(held, 400, #"{"reason":"TopicDisallowed"}"#) }
        }
        #expect(rig.runUntilEnded(32))
        #expect(rig.answer(1)?.reason == .topicDisallowed)
        rig.pass(.seconds(1))
        #expect(rig.apns.connections[1].hasClosed && !rig.apns.connections[0].hasClosed)
        #expect(rig.apns.connections[1].requests.count == 1)
    }

    enum Ending: CaseIterable {
        case refused, reset
    }

    @Test(arguments: Ending.allCases) func aFreshPushWhoseStreamIsResetLeavesTheOthersAlone(_ ending: Ending) throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        var resets = 0
        rig.apns.onRequest = { connection, stream in
            resets += 1
            guard resets == 1 else { return connection.accept(stream) }
            connection.server.reset(stream, ending == .refused ? .refusedStream : .internalError)
        }
        rig.send(1, onFreshConnection: true)
        #expect(rig.run(until: { rig.apns.connections.last?.hasClosed == true }))
        #expect(rig.apns.connections.count == 2 && !rig.apns.connections[0].hasClosed)
        #expect(rig.runUntilEnded(2))
        switch ending {
        case .refused: #expect(rig.answer(1)?.connection == 3)
        case .reset: #expect(rig.outcomes[1] == .unknown(.streamReset(.internalError), silentConnection: 2))
        }
    }

    @Test func aFreshPushWhoseConnectionDiesBeforeItIsWrittenGetsAnother() throws {
        let rig = try PoolRig()
        var cuts = 0
        rig.loop.network.onConnect = { connection in
            cuts += 1
            if cuts == 1 { connection.cut(after: 20, .toServer) }
        }
        rig.send(1, onFreshConnection: true)
        #expect(rig.runUntilEnded(1))
        #expect(rig.isAccepted(0))
        #expect(rig.answer(0)?.connection == 2)
    }

    @Test func freshPushesGetOneConnectionEach() throws {
        let rig = try PoolRig()
        rig.send(3, onFreshConnection: true)
        #expect(rig.runUntilEnded(3))
        #expect(Set(rig.answers.map(\.connection)).count == 3)
        #expect((0..<3).allSatisfy(rig.isAccepted))
        rig.pass(.seconds(1))
        #expect(rig.withPool { $0.connectionCount } == 1)
    }

    @Test func anOutageIsSaidAndItsEnd() throws {
        let rig = try PoolRig()
        rig.loop.enter { rig.apns.stop() }
        let begun = rig.loop.now.monotonic
        rig.send()
        rig.pass(.seconds(20))
        let failures = rig.events
        #expect(failures.count >= 4)
        for (index, event) in failures.enumerated() {
            guard case .cannotConnect(let error, let failures, let since) = event else {
                Issue.record("\(event)")
                continue
            }
            #expect(error.code == .refused && failures == index + 1 && since == begun)
        }
        try rig.loop.enter { try rig.apns.start() }
        #expect(rig.runUntilEnded(1))
        #expect(rig.events.last == .connected)
        rig.loop.enter { rig.apns.connections[0].server.abort() }
        rig.pass(.seconds(1))
        #expect(rig.events.last == .lost(isIdle: true))
    }

    @Test func probingNeverPausesForLong() throws {
        let rig = try PoolRig()
        rig.loop.enter { rig.apns.stop() }
        let mute = TimedMute()
        let listener = try rig.loop.enter { try rig.loop.listen(on: FakeAPNS.endpoint) { $0.handler = mute } }
        rig.withPool { $0.probe() }
        rig.pass(.seconds(300))
        let gaps = zip(mute.times, mute.times.dropFirst()).map { $0.duration(to: $1) }
        #expect(gaps.count > 20)
        #expect(gaps.allSatisfy { $0 <= .seconds(10) }, "\(gaps)")
        guard case .cannotConnect(let error, _, _) = rig.events.last else {
            Issue.record("nothing was said")
            return
        }
        #expect(error.code == .timedOut)
        rig.loop.enter { listener.close() }
        try rig.loop.enter { try rig.apns.start() }
        let back = rig.loop.now.monotonic
        #expect(rig.run(until: { rig.owner.assumeIsolated { $0.events.last } == .connected }))
        #expect(back.duration(to: rig.loop.now.monotonic) <= .seconds(10))
        #expect(rig.apns.requests.isEmpty)
        rig.pass(.seconds(30))
        #expect(rig.apns.connections.count == 1, "one is enough")
        rig.withPool { $0.probe() }
        rig.pass(.seconds(1))
        #expect(rig.events.suffix(2) == [.connected, .connected], "it stands already")
    }

    @Test func probingEnds() throws {
        let rig = try PoolRig()
        rig.loop.enter { rig.apns.stop() }
        rig.withPool { $0.probe() }
        rig.pass(.seconds(30))
        rig.withPool { $0.stopProbing() }
        let connects = rig.connects
        rig.pass(.seconds(60))
        #expect(rig.connects == connects)
    }

    @Test func whatWaitsCanBeTakenBack() throws {
        let rig = try PoolRig()
        rig.loop.enter { rig.apns.stop() }
        rig.send(3)
        rig.send(1, priority: 2)
        rig.send(1, onFreshConnection: true)
        rig.pass(.seconds(1))
        rig.withPool { $0.failWaiting() }
        #expect(rig.runUntilEnded(5))
        #expect(rig.outcomes.values.allSatisfy { $0 == .notSent(.noConnection) })
        try rig.loop.enter { try rig.apns.start() }
        rig.send()
        #expect(rig.runUntilEnded(6))
        #expect(rig.isAccepted(5))
    }

    @Test func eachWaitsForItsOwnTimeAndNoLonger() throws {
        let rig = try PoolRig { $0.waitSecondsMax = 20 }
        rig.loop.enter { rig.apns.stop() }
        rig.send()
        rig.pass(.seconds(5))
        rig.send(1, onFreshConnection: true)
        rig.pass(.seconds(5))
        rig.send()
        rig.pass(.seconds(9))
        for count in 0...3 {
            #expect(rig.outcomes.count == count)
            rig.pass(.seconds(5))
        }
        #expect(rig.ended == [0, 1, 2])
        #expect(rig.outcomes.values.allSatisfy { $0 == .notSent(.noConnection) })
    }

    @Test func retiredConnectionsAnswerAndNewPushesGetNewOnes() throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.onRequest = { _, _ in }
        rig.send(5)
        #expect(rig.run(until: { rig.apns.requests.count == 6 }))
        rig.withPool { $0.retireConnections() }
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        rig.send(5)
        #expect(rig.runUntilEnded(6))
        let first = rig.apns.connections[0]
        rig.loop.enter { first.open.forEach(first.accept) }
        #expect(rig.runUntilEnded(11))
        #expect((0..<11).allSatisfy(rig.isAccepted))
        #expect((6..<11).allSatisfy { rig.answer($0)?.connection == 2 })
        rig.pass(.seconds(1))
        #expect(first.hasClosed)
        #expect(!rig.events.contains { if case .lost = $0 { true } else { false } })
    }

    @Test func aConnectionThatIsRetiredBeforeItStandsIsReplacedAtOnce() throws {
        let rig = try PoolRig()
        rig.send()
        rig.pass(.microseconds(10))
        rig.withPool { $0.retireConnections() }
        rig.pass(.milliseconds(500))
        #expect(rig.isAccepted(0))
        #expect(rig.answer(0)?.connection == 2)
    }

    @Test func anAnswerThatIsNotOfAPNsIsMarked() throws {
        let rig = try PoolRig()
        let bodies = [
            #"{"reason":"FooBar"}"#, "", "<html>", "{}", #"{"reason":7}"#, #"{"error":"no"}"#, "No",
        ]
        rig.apns.onRequest = { connection, stream in
            connection.answer(stream, 403, bodies[connection.request(stream)?.number ?? 0])
        }
        rig.send(bodies.count)
        #expect(rig.runUntilEnded(bodies.count))
        #expect(rig.answers.map(\.isFromAPNS) == [true] + Array(repeating: false, count: 6))
        #expect(Set(rig.answers.map(\.connection)).count == 2, "five of them in a row replace the connection")
    }

    @Test func aFirstPushWithoutAnAnswerHoldsUpNobodyForLong() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { [unowned rig] connection, stream in
            if connection !== rig.apns.connections[0] { connection.accept(stream) }
        }
        rig.send(20)
        rig.pass(.seconds(6))
        #expect(rig.outcomes.count == 19)
        #expect((1..<20).allSatisfy(rig.isAccepted))
        rig.loop.enter { rig.apns.connections[0].open.forEach(rig.apns.connections[0].accept) }
        #expect(rig.runUntilEnded(20))
        #expect(rig.isAccepted(0))
    }
}

/// Accepts connections, says nothing, and notes when they came.
private final class TimedMute: ByteStreamHandler {
    var times: [MonotonicTime] = []
    override func connected(_ transport: ByteTransport) { times.append(transport.loop.now.monotonic) }
}
