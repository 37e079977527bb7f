import APNSSimulator
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Two keys, on virtual time. APNs accepts the connections of one key, but ends them before it answers a push.
@Suite struct LaneEndedConnectionsTests {
    enum Ending: CaseIterable {
        case goAway, reset, close

        var action: FaultAction {
            switch self {
            case .goAway: .goAway(FaultGoAway(lastStream: .id(0), closing: .close))
            case .reset: .resetConnection
            case .close: .closeConnection
            }
        }
    }

    private static let count = 50
    /// The time that the healthy requests need alone, at ten answers per second for each push in flight.
    private static let healthySeconds: Int64 = 1

    private func fixture(_ ending: Ending, endpoints: Int, log: Log = .silent) throws -> LaneAPNSHarness {
        let fixture = try LaneAPNSHarness(keys: 2, apps: 2, endpoints: endpoints, log: log)
        try fixture.harness.onLoop {
            let match = FaultMatch(topic: SimulatedApps.bundleID(1))
            try fixture.apns.faults.put(Fault(id: "end", match: match, action: ending.action))
        }
        return fixture
    }

    private func openScopes(_ fixture: LaneAPNSHarness) -> [BreakerScope] {
        fixture.harness.withLane { $0.pipeline.dispatcher.breakers.openings.map(\.scope) }
    }

    @Test(arguments: Ending.allCases, [1, 2]) func healthyKeysKeepTheirRate(_ ending: Ending, endpoints: Int) throws {
        let log = try CapturedLog()
        let fixture = try fixture(ending, endpoints: endpoints, log: log.log)
        // APNs accepts a push of the healthy key before the failure of the other key begins.
        fixture.request(1)
        try #require(fixture.harness.run { fixture.results == 1 })
        for number in 1...Self.count {
            fixture.request(1, from: number)
            fixture.request(1, from: Self.count + number, app: 1)
        }
        let began = fixture.now
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 1 + Self.count })
        #expect(began.duration(to: fixture.now) <= .seconds(15 + Self.healthySeconds))
        #expect(openScopes(fixture) == [endpoints == 1 ? .credential(pool: 1) : .endpoint(1)])
        #expect(log.lines().filter { $0.contains("breaker.opened") && $0.contains("unanswered") }.count == 1)

        // During the failure, single requests probe the breaker, so few connections open.
        let connections = fixture.connections
        let mended = fixture.now + .seconds(120)
        #expect(fixture.harness.run { fixture.now >= mended })
        #expect(fixture.connections - connections <= 20)
        fixture.harness.onLoop { fixture.apns.faults.remove(id: "end") }
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 1 + 2 * Self.count })
        #expect(fixture.results == 1 + 2 * Self.count && openScopes(fixture).isEmpty)
        #expect(mended.duration(to: fixture.now) <= .seconds(360))
    }

    @Test func idleConnectionsThatEndHoldNothing() throws {
        let fixture = try LaneAPNSHarness()
        for number in 0..<10 {
            fixture.request(1, from: number)
            try #require(
                fixture.harness.run { fixture.results == number + 1 && fixture.harness.counters.inFlight.value == 0 })
            fixture.end(.cut)
            fixture.harness.pass(seconds: 30)
        }
        #expect(fixture.connections == 10 && fixture.waits == 0 && openScopes(fixture).isEmpty)
    }
}
