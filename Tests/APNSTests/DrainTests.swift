import EventLoop
import HTTP2
import Testing

@testable import APNS

/// Tests of the draining and closing of connections.
@Suite struct DrainTests {
    /// Returns a harness with `count` open pushes on its first connection, whose peer closes the connection at a
    /// GOAWAY.
    private func harness(open count: Int, _ adjust: (inout PoolConfiguration) -> Void = { _ in }) throws -> PoolHarness
    {
        let harness = try PoolHarness(adjust)
        harness.apns.onGoAway = { $0.server.abort() }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.onRequest = { _, _ in }
        harness.send(count)
        #expect(harness.run(until: { harness.apns.requests.count == count + 1 }))
        return harness
    }

    @Test func goAwayIsSentAfterTheLastAnswer() throws {
        let harness = try harness(open: 10)
        let connection = harness.apns.connections[0]
        harness.withPool { $0.retireConnections() }
        harness.pass(.seconds(3))
        for remaining in (0..<10).reversed() {
            #expect(!connection.hasClosed)
            harness.loop.enter { connection.accept(connection.open[0]) }
            harness.pass(.seconds(1))
            #expect(connection.open.count == remaining)
        }
        #expect(harness.runUntilEnded(11))
        #expect((0..<11).allSatisfy(harness.isAccepted))
        #expect(connection.openAtGoAway == 0)
        #expect(connection.hasClosed)
        #expect(harness.withPool { $0.connectionCount } == 0)
    }

    @Test func anAnswerThatReplacesTheConnectionDoesNotAffectOtherPushes() throws {
        let harness = try harness(open: 10)
        let connection = harness.apns.connections[0]
        harness.loop.enter { connection.answer(connection.open[0], 429, #"{"reason":"TooManyProviderTokenUpdates"}"#) }
        harness.pass(.seconds(1))
        harness.loop.enter { connection.open.forEach(connection.accept) }
        #expect(harness.runUntilEnded(11))
        #expect((2..<11).allSatisfy(harness.isAccepted))
        harness.pass(.seconds(1))
        #expect(connection.openAtGoAway == 0)
    }

    @Test func anIdleConnectionIsDrainedImmediately() throws {
        let harness = try harness(open: 0)
        harness.withPool { $0.retireConnections() }
        harness.pass(.seconds(1))
        #expect(harness.apns.connections[0].openAtGoAway == 0)
        #expect(harness.apns.connections[0].hasClosed)
    }

    @Test func anIdleConnectionIsClosedGracefully() throws {
        let harness = try harness(open: 0)
        harness.withPool { $0.close() }
        harness.pass(.seconds(1))
        #expect(harness.apns.connections[0].openAtGoAway == 0)
        #expect(harness.apns.connections[0].hasClosed)
        #expect(harness.loop.run(limit: .seconds(3600), until: { false }) == .idle, "a timer remains")
    }

    @Test func theConnectionClosesAfterTheGracePeriod() throws {
        let harness = try harness(open: 3) { $0.requestTimeoutSeconds = 10 }
        harness.pass(.seconds(5))
        harness.withPool { $0.retireConnections() }
        harness.pass(.seconds(3))
        #expect(harness.outcomes.count == 1)
        harness.pass(.seconds(30))
        #expect((1...3).allSatisfy { harness.outcomes[$0] == .unknown(.timedOut) })
        #expect(harness.apns.connections[0].hasClosed)
        #expect(harness.withPool { $0.connectionCount } == 0)
    }

    @Test func aTimedOutPushIsResetAtThePeer() throws {
        let harness = try harness(open: 2) { $0.requestTimeoutSeconds = 10 }
        let connection = harness.apns.connections[0]
        harness.pass(.seconds(5))
        harness.loop.enter { connection.accept(connection.open[0]) }
        harness.pass(.seconds(7))
        #expect(harness.outcomes[2] == .unknown(.timedOut))
        #expect(connection.requests.map(\.closed) == [.noError, .noError, .cancel])
        #expect(!connection.hasClosed)
    }

    // No timer of a later connect or of waiting pushes remains.
    @Test func noTimersRemainWithoutAConnection() throws {
        let harness = try PoolHarness()
        harness.loop.enter { harness.apns.stop() }
        harness.send(3)
        harness.pass(.milliseconds(500))
        try #require(harness.connects == 1 && harness.outcomes.isEmpty)
        let closed = harness.loop.now.monotonic
        harness.withPool { $0.close() }
        #expect(harness.loop.run(limit: .seconds(3600), until: { false }) == .idle)
        #expect(harness.loop.now.monotonic == closed && harness.outcomes.count == 3)
    }
}
