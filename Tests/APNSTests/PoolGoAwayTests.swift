import APNSProtocol
import EventLoop
import HTTP2
import Telemetry
import TestKit
import Testing

@testable import APNS

/// What becomes of pushes when APNs says GOAWAY.
@Suite struct PoolGoAwayTests {
    @Test func goAwayInMidFlightSendsTheUnprocessedOnesElsewhere() throws {
        let log = try CapturedLog(level: .debug)
        let rig = try PoolRig(log: log.log)
        rig.send()
        #expect(rig.runUntilEnded(1))
        let first = rig.apns.connections[0]
        rig.apns.onRequest = { _, _ in }
        rig.send(10)
        #expect(rig.run(until: { first.requests.count == 11 }))
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
        rig.loop.enter {
            // Streams 3 to 11 hold the first five of the ten.
            first.server.goAway(lastStreamID: 11, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
            // A server says the same again, without the reason, before it closes.
            first.server.goAway(lastStreamID: 11)
        }
        rig.pass(.seconds(5))
        #expect(rig.outcomes.count == 6)
        #expect(rig.apns.connections.count == 2)
        rig.loop.enter { for stream in first.requests[1...5].map(\.stream) { first.accept(stream) } }
        #expect(rig.runUntilEnded(11))
        #expect((0..<11).allSatisfy(rig.isAccepted))
        #expect(rig.apns.connections[1].requests.count == 5)
        #expect(rig.resent == 5)
        rig.pass(.seconds(1))
        #expect(first.hasClosed)
        #expect(rig.withPool { $0.connectionCount } == 1)
        #expect(log.lines().contains { $0.contains(#""apns.reason":"Shutdown""#) })
    }

    /// As a server that goes down does: it says so to one, and takes no more.
    @Test func aServerThatGoesDownKeepsTheMessageItToldAndNoOther() throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        let first = rig.apns.connections[0]
        rig.apns.onRequest = { connection, stream in if connection !== first { connection.accept(stream) } }
        rig.send(5)
        #expect(rig.run(until: { first.requests.count == 6 }))
        rig.loop.enter {
            // Streams 3 to 7 hold the first three of the five.
            first.server.goAway(lastStreamID: 7)
            first.answer(first.requests[1].stream, 503, #"{"reason":"Shutdown"}"#)
            for request in first.requests[2...3] { first.accept(request.stream) }
        }
        #expect(rig.runUntilEnded(6))
        #expect(rig.answer(1)?.reason == .shutdown)
        #expect((2..<6).allSatisfy(rig.isAccepted))
        #expect(rig.apns.connections.count == 2)
    }

    @Test(arguments: [#"{"reason":"IdleTimeout"}"#, "", "going away", "\u{0}\u{7F}<", #"{"reason":7}"#])
    func anIdleConnectionThatIsTakenAwayIsReplacedWhenThereIsAPush(debug: String) throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.pass(.seconds(3600))
        rig.loop.enter { rig.apns.connections[0].server.goAway(debug: Array(debug.utf8)) }
        rig.pass(.seconds(60))
        #expect(rig.apns.connections.count == 1 && rig.withPool { $0.connectionCount } == 0)
        rig.send()
        #expect(rig.runUntilEnded(2))
        #expect(rig.isAccepted(1) && rig.apns.connections.count == 2)
    }

    @Test func answersThatDoNotComeAfterGoAwayAreUnknownOnceTheGraceIsOver() throws {
        let rig = try PoolRig { $0.drainGraceSeconds = 5 }
        rig.apns.onRequest = { connection, _ in connection.server.goAway(lastStreamID: 1) }
        rig.send()
        rig.pass(.seconds(4))
        #expect(rig.outcomes.isEmpty)
        rig.pass(.seconds(2))
        #expect(rig.outcomes == [0: .unknown(.connectionLost, silentConnection: 1)])
    }

    @Test func anAnswerAfterGoAwayDoesNotProlongTheGrace() throws {
        let rig = try PoolRig { $0.drainGraceSeconds = 5 }
        rig.send()
        #expect(rig.runUntilEnded(1))
        let connection = rig.apns.connections[0]
        rig.apns.onRequest = { _, _ in }
        rig.send(2)
        #expect(rig.run(until: { connection.open.count == 2 }))
        rig.loop.enter { connection.server.goAway() }
        rig.pass(.seconds(1))
        rig.loop.enter { connection.answer(connection.open[0], 429, #"{"reason":"TooManyProviderTokenUpdates"}"#) }
        rig.pass(.seconds(5))
        #expect(rig.outcomes[2] == .unknown(.connectionLost))
    }
}
