import APNSProtocol
import EventLoop
import HTTP2
import Telemetry
import TestKit
import Testing

@testable import APNS

/// Tests of the outcomes of pushes when APNs sends GOAWAY.
@Suite struct PoolGoAwayTests {
    @Test func unprocessedPushesAreSentElsewhereAfterGoAway() throws {
        let log = try CapturedLog(level: .debug)
        let harness = try PoolHarness(log: log.log)
        harness.send()
        #expect(harness.runUntilEnded(1))
        let first = harness.apns.connections[0]
        harness.apns.onRequest = { _, _ in }
        harness.send(10)
        #expect(harness.run(until: { first.requests.count == 11 }))
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
        harness.loop.enter {
            // Streams 3 to 11 are the first five of the ten pushes.
            first.server.goAway(lastStreamID: 11, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
            // A server repeats the GOAWAY, without the reason, before it closes.
            first.server.goAway(lastStreamID: 11)
        }
        harness.pass(.seconds(5))
        #expect(harness.outcomes.count == 6)
        #expect(harness.apns.connections.count == 2)
        harness.loop.enter { for stream in first.requests[1...5].map(\.stream) { first.accept(stream) } }
        #expect(harness.runUntilEnded(11))
        #expect((0..<11).allSatisfy(harness.isAccepted))
        #expect(harness.apns.connections[1].requests.count == 5)
        #expect(harness.resent == 5)
        harness.pass(.seconds(1))
        #expect(first.hasClosed)
        #expect(harness.withPool { $0.connectionCount } == 1)
        #expect(log.lines().contains { $0.contains(#""apns.reason":"Shutdown""#) })
    }

    // A server that shuts down sends GOAWAY, answers one earlier push with `Shutdown`, and accepts the other earlier
    // pushes.
    @Test func aServerShutdownLosesNoOtherPush() throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        let first = harness.apns.connections[0]
        harness.apns.onRequest = { connection, stream in if connection !== first { connection.accept(stream) } }
        harness.send(5)
        #expect(harness.run(until: { first.requests.count == 6 }))
        harness.loop.enter {
            // Streams 3 to 7 are the first three of the five pushes.
            first.server.goAway(lastStreamID: 7)
            first.answer(first.requests[1].stream, 503, #"{"reason":"Shutdown"}"#)
            for request in first.requests[2...3] { first.accept(request.stream) }
        }
        #expect(harness.runUntilEnded(6))
        #expect(harness.answer(1)?.reason == .shutdown)
        #expect((2..<6).allSatisfy(harness.isAccepted))
        #expect(harness.apns.connections.count == 2)
    }

    @Test(arguments: [#"{"reason":"IdleTimeout"}"#, "", "going away", "\u{0}\u{7F}<", #"{"reason":7}"#])
    func anIdleConnectionThatAPNsClosesIsReplacedForTheNextPush(debug: String) throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.pass(.seconds(3600))
        harness.loop.enter { harness.apns.connections[0].server.goAway(debug: Array(debug.utf8)) }
        harness.pass(.seconds(60))
        #expect(harness.apns.connections.count == 1 && harness.withPool { $0.connectionCount } == 0)
        harness.send()
        #expect(harness.runUntilEnded(2))
        #expect(harness.isAccepted(1) && harness.apns.connections.count == 2)
    }

    @Test func unansweredPushesAreUnknownAfterTheGracePeriodOfAGoAway() throws {
        let harness = try PoolHarness { $0.drainGraceSeconds = 5 }
        harness.apns.onRequest = { connection, _ in connection.server.goAway(lastStreamID: 1) }
        harness.send()
        harness.pass(.seconds(4))
        #expect(harness.outcomes.isEmpty)
        harness.pass(.seconds(2))
        #expect(harness.outcomes == [0: .unknown(.connectionLost, silentConnection: 1)])
    }

    @Test func anAnswerAfterGoAwayDoesNotProlongTheGracePeriod() throws {
        let harness = try PoolHarness { $0.drainGraceSeconds = 5 }
        harness.send()
        #expect(harness.runUntilEnded(1))
        let connection = harness.apns.connections[0]
        harness.apns.onRequest = { _, _ in }
        harness.send(2)
        #expect(harness.run(until: { connection.open.count == 2 }))
        harness.loop.enter { connection.server.goAway() }
        harness.pass(.seconds(1))
        harness.loop.enter { connection.answer(connection.open[0], 429, #"{"reason":"TooManyProviderTokenUpdates"}"#) }
        harness.pass(.seconds(5))
        #expect(harness.outcomes[2] == .unknown(.connectionLost))
    }
}
