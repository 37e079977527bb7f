import EventLoop
import HTTP2
import Testing

@testable import APNS

/// How a connection is left.
@Suite struct DrainTests {
    /// A rig with so many pushes open on its first connection, whose peer closes as soon as it reads GOAWAY.
    private func rig(open count: Int, _ adjust: (inout PoolConfiguration) -> Void = { _ in }) throws -> PoolRig {
        let rig = try PoolRig(adjust)
        rig.apns.onGoAway = { $0.server.abort() }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.onRequest = { _, _ in }
        rig.send(count)
        #expect(rig.run(until: { rig.apns.requests.count == count + 1 }))
        return rig
    }

    @Test func goAwayLeavesAfterTheLastAnswer() throws {
        let rig = try rig(open: 10)
        let connection = rig.apns.connections[0]
        rig.withPool { $0.retireConnections() }
        rig.pass(.seconds(3))
        for left in (0..<10).reversed() {
            #expect(!connection.hasClosed)
            rig.loop.enter { connection.accept(connection.open[0]) }
            rig.pass(.seconds(1))
            #expect(connection.open.count == left)
        }
        #expect(rig.runUntilEnded(11))
        #expect((0..<11).allSatisfy(rig.isAccepted))
        #expect(connection.openAtGoAway == 0)
        #expect(connection.hasClosed)
        #expect(rig.withPool { $0.connectionCount } == 0)
    }

    @Test func anAnswerThatReplacesTheConnectionCostsTheOthersNothing() throws {
        let rig = try rig(open: 10)
        let connection = rig.apns.connections[0]
        rig.loop.enter { connection.answer(connection.open[0], 429, #"{"reason":"TooManyProviderTokenUpdates"}"#) }
        rig.pass(.seconds(1))
        rig.loop.enter { connection.open.forEach(connection.accept) }
        #expect(rig.runUntilEnded(11))
        #expect((2..<11).allSatisfy(rig.isAccepted))
        rig.pass(.seconds(1))
        #expect(connection.openAtGoAway == 0)
    }

    @Test func anIdleConnectionIsLeftAtOnce() throws {
        let rig = try rig(open: 0)
        rig.withPool { $0.retireConnections() }
        rig.pass(.seconds(1))
        #expect(rig.apns.connections[0].openAtGoAway == 0)
        #expect(rig.apns.connections[0].hasClosed)
    }

    @Test func anIdleConnectionIsClosedInOrder() throws {
        let rig = try rig(open: 0)
        rig.withPool { $0.close() }
        rig.pass(.seconds(1))
        #expect(rig.apns.connections[0].openAtGoAway == 0)
        #expect(rig.apns.connections[0].hasClosed)
        #expect(rig.loop.run(limit: .seconds(3600), until: { false }) == .idle, "nothing is left to wait for")
    }

    @Test func afterTheGraceItIsLeftAllTheSame() throws {
        let rig = try rig(open: 3) { $0.requestTimeoutSeconds = 10 }
        rig.pass(.seconds(5))
        rig.withPool { $0.retireConnections() }
        rig.pass(.seconds(3))
        #expect(rig.outcomes.count == 1)
        rig.pass(.seconds(30))
        #expect((1...3).allSatisfy { rig.outcomes[$0] == .unknown(.timedOut) })
        #expect(rig.apns.connections[0].hasClosed)
        #expect(rig.withPool { $0.connectionCount } == 0)
    }

    @Test func aPushWhoseTimeIsUpIsTakenBackFromThePeer() throws {
        let rig = try rig(open: 2) { $0.requestTimeoutSeconds = 10 }
        let connection = rig.apns.connections[0]
        rig.pass(.seconds(5))
        rig.loop.enter { connection.accept(connection.open[0]) }
        rig.pass(.seconds(7))
        #expect(rig.outcomes[2] == .unknown(.timedOut))
        #expect(connection.requests.map(\.closed) == [.noError, .noError, .cancel])
        #expect(!connection.hasClosed)
    }

    /// Neither for a connection that could be opened later, nor for what waited for one.
    @Test func nothingIsLeftToWaitForWhereNoConnectionStood() throws {
        let rig = try PoolRig()
        rig.loop.enter { rig.apns.stop() }
        rig.send(3)
        rig.pass(.milliseconds(500))
        try #require(rig.connects == 1 && rig.outcomes.isEmpty)
        let closed = rig.loop.now.monotonic
        rig.withPool { $0.close() }
        #expect(rig.loop.run(limit: .seconds(3600), until: { false }) == .idle)
        #expect(rig.loop.now.monotonic == closed && rig.outcomes.count == 3)
    }
}
