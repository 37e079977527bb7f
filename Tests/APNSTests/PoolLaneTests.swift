import APNSProtocol
import EventLoop
import HTTP2
import Testing

@testable import APNS

/// Tests of the functions that pools provide to lanes, such as order, fresh connections, probing, and events.
@Suite struct PoolLaneTests {
    @Test func theLowestPriorityNumberIsSentFirst() throws {
        let harness = try PoolHarness { $0.streamsMax = 1 }
        harness.apns.onRequest = { _, _ in }
        harness.send()
        #expect(harness.run(until: { harness.apns.requests.count == 1 }))
        harness.send(2, priority: 3)
        harness.send(2, priority: 1)
        harness.send(2, priority: 0)
        harness.send(1, priority: 99)
        harness.send(1, priority: -1)
        harness.pass(.milliseconds(1))
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        harness.loop.enter { harness.apns.connections[0].open.forEach(harness.apns.connections[0].accept) }
        #expect(harness.runUntilEnded(9))
        #expect(harness.apns.requests.map(\.number) == [0, 5, 6, 8, 3, 4, 1, 2, 7])
    }

    // Pushes that are sent together are also answered together. If they used all streams, a more urgent push would wait
    // for their answers.
    @Test func lessUrgentPushesLeaveStreamsFree() throws {
        let harness = try PoolHarness { $0.streamsMax = 20 }
        harness.send(1, priority: 1)
        #expect(harness.runUntilEnded(1))
        harness.apns.onRequest = { _, _ in }
        harness.send(50, priority: 1)
        harness.pass(.milliseconds(10))
        #expect(harness.apns.requests.count == 1 + 18)
        harness.send(3)
        harness.pass(.milliseconds(10))
        #expect(harness.apns.requests.dropFirst(1 + 18).map(\.number) == [51, 52])
        harness.loop.enter { harness.apns.connections[0].accept(harness.apns.connections[0].open[0]) }
        harness.pass(.milliseconds(10))
        #expect(harness.apns.requests.dropFirst(1 + 20).map(\.number) == [53])
        harness.loop.enter { harness.apns.connections[0].open.prefix(3).forEach(harness.apns.connections[0].accept) }
        harness.pass(.milliseconds(10))
        #expect(harness.apns.requests.count == 1 + 21 + 1, "a less urgent push was sent on a reserved stream")
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        harness.loop.enter { harness.apns.connections[0].open.forEach(harness.apns.connections[0].accept) }
        #expect(harness.runUntilEnded(54))
    }

    @Test func aPushThatExpiresWhileWaitingIsNotSent() throws {
        let harness = try PoolHarness { $0.streamsMax = 1 }
        harness.apns.onRequest = { _, _ in }
        harness.send()
        #expect(harness.run(until: { harness.apns.requests.count == 1 }))
        let now = harness.loop.now.unixSeconds
        harness.send { PoolHarness.request($0, expiration: now + 3) }
        harness.send { PoolHarness.request($0, expiration: 0) }
        harness.send { PoolHarness.request($0, expiration: now + 60) }
        harness.pass(.seconds(4))
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        harness.loop.enter { harness.apns.connections[0].open.forEach(harness.apns.connections[0].accept) }
        #expect(harness.runUntilEnded(4))
        #expect(harness.outcomes[1] == .notSent(.expired))
        #expect(harness.isAccepted(2) && harness.isAccepted(3))
        #expect(harness.apns.requests.map(\.number) == [0, 2, 3])
    }

    // The limit of the wait also applies without a connection and behind other pushes. An expired push would take space
    // in the queue.
    @Test func aPushWaitsNoLongerThanUntilItsExpiration() throws {
        let harness = try PoolHarness()
        harness.loop.enter { harness.apns.stop() }
        let now = harness.loop.now
        let expirations: [Int64?] = [nil, 60, 5, 0, 2, 5, .max, 1, -1]
        for (index, remaining) in expirations.enumerated() {
            let expiration = remaining.map { $0 == 0 || $0 == .max ? $0 : now.unixSeconds + $0 }
            harness.send(priority: index % 3, onFreshConnection: index == 5) {
                PoolHarness.request($0, expiration: expiration)
            }
        }
        var endings: [Int: Int64] = [:]
        for second in 0...31 {
            harness.pass(harness.loop.now.monotonic.duration(to: now.monotonic + .milliseconds(second * 1000 + 500)))
            for number in harness.ended where endings[number] == nil { endings[number] = Int64(second) }
        }
        #expect(expirations.indices.map { endings[$0] } == [30, 30, 5, 30, 2, 5, 30, 1, 0])
        #expect(
            expirations.indices.map { harness.outcomes[$0] == .notSent(.expired) } == [
                false, false, true, false, true, true, false, true, true,
            ])
        #expect(harness.withPool { $0.waitingCount } == 0)
    }

    // A push that has expired while waiting does not delay the pushes behind it.
    @Test(arguments: [false, true]) func anExpiredPushLeavesTheQueue(onFreshConnection: Bool) throws {
        let harness = try PoolHarness()
        harness.loop.enter { harness.apns.stop() }
        let expiration = harness.loop.now.unixSeconds + 2
        harness.send(onFreshConnection: onFreshConnection) { PoolHarness.request($0, expiration: expiration) }
        harness.send(onFreshConnection: onFreshConnection)
        harness.pass(.seconds(5))
        try harness.loop.enter { try harness.apns.start() }
        #expect(harness.runUntilEnded(2))
        #expect(harness.outcomes[0] == .notSent(.expired) && harness.isAccepted(1))
    }

    @Test func aFreshPushOpensAConnectionThatReplacesTheOthers() throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.send(1, onFreshConnection: true)
        #expect(harness.runUntilEnded(2))
        #expect(harness.answer(0)?.connection == 1 && harness.answer(1)?.connection == 2)
        harness.pass(.seconds(1))
        #expect(harness.apns.connections[0].hasClosed)
        harness.send(10)
        #expect(harness.runUntilEnded(12))
        #expect((2..<12).allSatisfy { harness.answer($0)?.connection == 2 && harness.isAccepted($0) })
        #expect(harness.apns.connections.count == 2)
    }

    // A fresh connection stays reserved for its push until the push is answered.
    @Test(arguments: [Credential.key(PoolHarness.key), .certificate("com.example.app")])
    func newSettingsPutNoOtherPushOnAFreshConnection(_ credential: Credential) throws {
        let harness = try PoolHarness { $0.credential = credential }
        harness.apns.onRequest = { _, _ in }
        harness.send(2, onFreshConnection: true)
        #expect(harness.run(until: { harness.apns.requests.count == 1 }))
        let first = harness.apns.connections[0]
        harness.loop.enter { first.server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        harness.pass(.seconds(1))
        #expect(first.requests.count == 1)
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        harness.loop.enter { first.accept(first.requests[0].stream) }
        #expect(harness.runUntilEnded(2))
        #expect(harness.answers.map(\.connection).sorted() == [1, 2])
    }

    // New settings from APNs must not let a shared push use a fresh connection.
    @Test func newSettingsKeepAFreshConnectionReserved() throws {
        let harness = try PoolHarness { $0.credential = .certificate("com.example.app") }
        harness.apns.onRequest = { _, _ in }
        harness.send(1, onFreshConnection: true)
        #expect(harness.run(until: { harness.apns.requests.count == 1 }))
        let first = harness.apns.connections[0]
        harness.loop.enter { first.server.update(HTTP2Settings(maxConcurrentStreams: 40)) }
        harness.pass(.seconds(1))
        harness.send(5)
        harness.pass(.seconds(1))
        #expect(first.requests.count == 1)
    }

    @Test func aRefusedFreshPushKeepsTheOtherConnections() throws {
        let harness = try PoolHarness { $0.streamsMax = 10 }
        harness.send()
        #expect(harness.runUntilEnded(1))
        var openStream: HTTP2Stream?
        harness.apns.onRequest = { [unowned harness] connection, stream in
            if connection === harness.apns.connections[0] { connection.accept(stream) } else { openStream = stream }
        }
        harness.send(1, onFreshConnection: true)
        #expect(harness.run(until: { openStream != nil }))
        harness.send(30)
        #expect(harness.runUntilEnded(31))
        harness.loop.enter {
            if let openStream { harness.apns.connections[1].answer(openStream, 400, #"{"reason":"TopicDisallowed"}"#) }
        }
        #expect(harness.runUntilEnded(32))
        #expect(harness.answer(1)?.reason == .topicDisallowed)
        harness.pass(.seconds(1))
        #expect(harness.apns.connections[1].hasClosed && !harness.apns.connections[0].hasClosed)
        #expect(harness.apns.connections[1].requests.count == 1)
    }

    enum Ending: CaseIterable {
        case refused, reset
    }

    @Test(arguments: Ending.allCases) func aResetFreshPushKeepsTheOtherConnections(_ ending: Ending) throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        var resets = 0
        harness.apns.onRequest = { connection, stream in
            resets += 1
            guard resets == 1 else { return connection.accept(stream) }
            connection.server.reset(stream, ending == .refused ? .refusedStream : .internalError)
        }
        harness.send(1, onFreshConnection: true)
        #expect(harness.run(until: { harness.apns.connections.last?.hasClosed == true }))
        #expect(harness.apns.connections.count == 2 && !harness.apns.connections[0].hasClosed)
        #expect(harness.runUntilEnded(2))
        switch ending {
        case .refused: #expect(harness.answer(1)?.connection == 3)
        case .reset: #expect(harness.outcomes[1] == .unknown(.streamReset(.internalError), silentConnection: 2))
        }
    }

    @Test func aFreshPushWhoseConnectionDiesBeforeItIsWrittenGetsAnother() throws {
        let harness = try PoolHarness()
        var cuts = 0
        harness.loop.network.onConnect = { connection in
            cuts += 1
            if cuts == 1 { connection.cut(after: 20, .toServer) }
        }
        harness.send(1, onFreshConnection: true)
        #expect(harness.runUntilEnded(1))
        #expect(harness.isAccepted(0))
        #expect(harness.answer(0)?.connection == 2)
    }

    @Test func freshPushesGetOneConnectionEach() throws {
        let harness = try PoolHarness()
        harness.send(3, onFreshConnection: true)
        #expect(harness.runUntilEnded(3))
        #expect(Set(harness.answers.map(\.connection)).count == 3)
        #expect((0..<3).allSatisfy(harness.isAccepted))
        harness.pass(.seconds(1))
        #expect(harness.withPool { $0.connectionCount } == 1)
    }

    @Test func theStartAndTheEndOfAnOutageAreReported() throws {
        let harness = try PoolHarness()
        harness.loop.enter { harness.apns.stop() }
        let begun = harness.loop.now.monotonic
        harness.send()
        harness.pass(.seconds(20))
        let failures = harness.events
        #expect(failures.count >= 4)
        for (index, event) in failures.enumerated() {
            guard case .cannotConnect(let error, let failures, let since) = event else {
                Issue.record("\(event)")
                continue
            }
            #expect(error.code == .refused && failures == index + 1 && since == begun)
        }
        try harness.loop.enter { try harness.apns.start() }
        #expect(harness.runUntilEnded(1))
        #expect(harness.events.last == .connected)
        harness.loop.enter { harness.apns.connections[0].server.abort() }
        harness.pass(.seconds(1))
        #expect(harness.events.last == .lost(isIdle: true))
    }

    @Test func probingRetriesWithoutLongPauses() throws {
        let harness = try PoolHarness()
        harness.loop.enter { harness.apns.stop() }
        let mute = TimedMute()
        let listener = try harness.loop.enter { try harness.loop.listen(on: FakeAPNS.endpoint) { $0.handler = mute } }
        harness.withPool { $0.probe() }
        harness.pass(.seconds(300))
        let gaps = zip(mute.times, mute.times.dropFirst()).map { $0.duration(to: $1) }
        #expect(gaps.count > 20)
        #expect(gaps.allSatisfy { $0 <= .seconds(10) }, "\(gaps)")
        guard case .cannotConnect(let error, _, _) = harness.events.last else {
            Issue.record("no failure to connect was reported")
            return
        }
        #expect(error.code == .timedOut)
        harness.loop.enter { listener.close() }
        try harness.loop.enter { try harness.apns.start() }
        let back = harness.loop.now.monotonic
        #expect(harness.run(until: { harness.owner.assumeIsolated { $0.events.last } == .connected }))
        #expect(back.duration(to: harness.loop.now.monotonic) <= .seconds(10))
        #expect(harness.apns.requests.isEmpty)
        harness.pass(.seconds(30))
        #expect(harness.apns.connections.count == 1, "probing opened another connection")
        harness.withPool { $0.probe() }
        harness.pass(.seconds(1))
        #expect(
            harness.events.suffix(2) == [.connected, .connected], "a probe of a connected pool reported no connection")
    }

    @Test func probingStops() throws {
        let harness = try PoolHarness()
        harness.loop.enter { harness.apns.stop() }
        harness.withPool { $0.probe() }
        harness.pass(.seconds(30))
        harness.withPool { $0.stopProbing() }
        let connects = harness.connects
        harness.pass(.seconds(60))
        #expect(harness.connects == connects)
    }

    @Test func waitingPushesCanBeFailed() throws {
        let harness = try PoolHarness()
        harness.loop.enter { harness.apns.stop() }
        harness.send(3)
        harness.send(1, priority: 2)
        harness.send(1, onFreshConnection: true)
        harness.pass(.seconds(1))
        harness.withPool { $0.failWaiting() }
        #expect(harness.runUntilEnded(5))
        #expect(harness.outcomes.values.allSatisfy { $0 == .notSent(.noConnection) })
        try harness.loop.enter { try harness.apns.start() }
        harness.send()
        #expect(harness.runUntilEnded(6))
        #expect(harness.isAccepted(5))
    }

    @Test func eachPushWaitsForItsTimeout() throws {
        let harness = try PoolHarness { $0.waitSecondsMax = 20 }
        harness.loop.enter { harness.apns.stop() }
        harness.send()
        harness.pass(.seconds(5))
        harness.send(1, onFreshConnection: true)
        harness.pass(.seconds(5))
        harness.send()
        harness.pass(.seconds(9))
        for count in 0...3 {
            #expect(harness.outcomes.count == count)
            harness.pass(.seconds(5))
        }
        #expect(harness.ended == [0, 1, 2])
        #expect(harness.outcomes.values.allSatisfy { $0 == .notSent(.noConnection) })
    }

    @Test func retiredConnectionsAnswerAndNewPushesGetNewOnes() throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.onRequest = { _, _ in }
        harness.send(5)
        #expect(harness.run(until: { harness.apns.requests.count == 6 }))
        harness.withPool { $0.retireConnections() }
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        harness.send(5)
        #expect(harness.runUntilEnded(6))
        let first = harness.apns.connections[0]
        harness.loop.enter { first.open.forEach(first.accept) }
        #expect(harness.runUntilEnded(11))
        #expect((0..<11).allSatisfy(harness.isAccepted))
        #expect((6..<11).allSatisfy { harness.answer($0)?.connection == 2 })
        harness.pass(.seconds(1))
        #expect(first.hasClosed)
        #expect(!harness.events.contains { if case .lost = $0 { true } else { false } })
    }

    @Test func aConnectionRetiredBeforeItIsUpIsReplacedImmediately() throws {
        let harness = try PoolHarness()
        harness.send()
        harness.pass(.microseconds(10))
        harness.withPool { $0.retireConnections() }
        harness.pass(.milliseconds(500))
        #expect(harness.isAccepted(0))
        #expect(harness.answer(0)?.connection == 2)
    }

    @Test func anAnswerThatIsNotFromAPNsIsMarked() throws {
        let harness = try PoolHarness()
        let bodies = [
            #"{"reason":"FooBar"}"#, "", "<html>", "{}", #"{"reason":7}"#, #"{"error":"no"}"#, "No",
        ]
        harness.apns.onRequest = { connection, stream in
            connection.answer(stream, 403, bodies[connection.request(stream)?.number ?? 0])
        }
        harness.send(bodies.count)
        #expect(harness.runUntilEnded(bodies.count))
        #expect(harness.answers.map(\.isFromAPNS) == [true] + Array(repeating: false, count: 6))
        #expect(
            Set(harness.answers.map(\.connection)).count == 2, "five consecutive answers did not replace the connection"
        )
    }

    @Test func anUnansweredFirstPushDelaysOthersOnlyBriefly() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { [unowned harness] connection, stream in
            if connection !== harness.apns.connections[0] { connection.accept(stream) }
        }
        harness.send(20)
        harness.pass(.seconds(6))
        #expect(harness.outcomes.count == 19)
        #expect((1..<20).allSatisfy(harness.isAccepted))
        harness.loop.enter { harness.apns.connections[0].open.forEach(harness.apns.connections[0].accept) }
        #expect(harness.runUntilEnded(20))
        #expect(harness.isAccepted(0))
    }
}

/// A peer that accepts connections, sends nothing, and records the times of connects.
private final class TimedMute: ByteStreamHandler {
    var times: [MonotonicTime] = []
    override func connected(_ transport: ByteTransport) { times.append(transport.loop.now.monotonic) }
}
