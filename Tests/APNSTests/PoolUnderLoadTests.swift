import EventLoop
import HTTP2
import Testing

@testable import APNS

/// Tests of a pool under sustained load.
@Suite struct PoolUnderLoadTests {
    // Streams and the connection have windows of 65,535 bytes, and answers arrive after about 100 ms.
    @Test func oneConnectionKeepsItsStreamsBusy() throws {
        let harness = try PoolHarness()
        harness.apns.settings = HTTP2Settings(maxConcurrentStreams: 1000, initialWindowBytes: 65_535)
        harness.apns.limits = HTTP2Limits(connectionWindowBytes: 65_535)
        var random = SeededRandom(seed: 1)
        let count = 6000
        var (inFlight, answered) = (0, 0)
        var seen: [Int] = []
        harness.apns.onRequest = { [unowned harness] connection, stream in
            inFlight += 1
            // Vary the delay, because requests that arrive together would otherwise be answered together.
            _ = harness.loop.schedule(after: .microseconds(Int64(80_000 + random.below(40_000)))) {
                inFlight -= 1
                answered += 1
                connection.accept(stream)
                if 1500..<(count - 1500) ~= answered { seen.append(inFlight) }
            }
        }
        harness.send(count)
        #expect(harness.runUntilEnded(count))
        #expect((0..<count).allSatisfy(harness.isAccepted))
        #expect(harness.apns.connections.count == 1)
        let least = try #require(seen.min())
        #expect(least >= 900, "\(least)")
        print("one connection, 64 KiB windows, answers after 100 ms: at least \(least) pushes in flight")
    }

    @Test func connectionsFollowTheLoad() throws {
        let harness = try PoolHarness { $0.connectionsMax = 3 }
        harness.apns.settings = HTTP2Settings(maxConcurrentStreams: 100)
        harness.apns.onRequest = { [unowned harness] connection, stream in
            _ = harness.loop.schedule(after: .milliseconds(100)) { connection.accept(stream) }
        }
        func openConnections() -> Int { harness.apns.connections.count { !$0.hasClosed } }
        var sent = 0
        func push(perSecond rate: Int, seconds: Int) {
            for _ in 0..<(seconds * 20) {
                harness.send(rate / 20)
                sent += rate / 20
                harness.pass(.milliseconds(50))
            }
        }
        push(perSecond: 200, seconds: 5)
        #expect(openConnections() == 1, "20 of 100 streams did not use one connection")
        push(perSecond: 1600, seconds: 5)
        #expect(openConnections() == 3, "160 of 100 streams did not use three connections")
        push(perSecond: 20, seconds: 700)
        #expect(openConnections() < 3)
        push(perSecond: 20, seconds: 700)
        #expect(openConnections() == 1)
        #expect(harness.runUntilEnded(sent))
        #expect((0..<sent).allSatisfy(harness.isAccepted))
    }

    // Each second for ten minutes, each connection receives a GOAWAY or, occasionally, is cut.
    @Test(arguments: 1...3 as ClosedRange<UInt64>) func noPushIsLostWithAGoAwayEverySecond(seed: UInt64) throws {
        let harness = try PoolHarness(seed: seed) { $0.connectionsMax = 2 }
        var random = SeededRandom(seed: seed)
        var processed: [Int: Int] = [:]
        var lastServed: [ObjectIdentifier: Int32] = [:]
        harness.apns.onRequest = { [unowned harness] connection, stream in
            let number = connection.request(stream)?.number ?? -1
            _ = harness.loop.schedule(after: .milliseconds(100)) {
                guard stream.id <= lastServed[ObjectIdentifier(connection)] ?? .max else { return }
                // Count the push even if the connection was cut and no answer arrives.
                processed[number, default: 0] += 1
                connection.accept(stream)
            }
        }
        let (seconds, perSecond) = (600, 40)
        for second in 0..<seconds {
            for _ in 0..<4 {
                harness.send(perSecond / 4)
                harness.pass(.milliseconds(250))
            }
            let serving = harness.apns.connections.filter { !$0.hasClosed }
            harness.loop.enter {
                for connection in serving {
                    switch random.below(4) {
                    case 0:
                        let last = max(0, (connection.requests.last?.stream.id ?? 1) - 2)
                        lastServed[ObjectIdentifier(connection)] = last
                        connection.server.goAway(lastStreamID: last)
                    case 1 where second % 10 == 0: connection.server.abort()
                    default: connection.server.goAway()
                    }
                }
            }
        }
        let count = seconds * perSecond
        #expect(harness.runUntilEnded(count))
        let outcomes = harness.outcomes
        #expect(!outcomes.values.contains(.notSent(.noConnection)))
        let unknown = outcomes.filter { if case .unknown = $0.value { true } else { false } }
        #expect(
            outcomes.count - unknown.count == outcomes.keys.count(where: harness.isAccepted),
            "a push was neither accepted nor unknown")
        #expect(unknown.count == harness.statistics.unknown)
        #expect(unknown.count < count / 100)
        let doubled = processed.filter { $0.value > 1 }.keys.filter { unknown[$0] == nil }
        #expect(doubled.isEmpty, "\(doubled.count)")
        #expect((0..<count).allSatisfy { processed[$0] != nil || unknown[$0] != nil })
        #expect(harness.apns.connections.count > 60)
        print("GOAWAY each second for ten minutes: \(count) pushes, \(unknown.count) unknown, none lost or doubled")
    }
}
