import APNSSimulator
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// An APNs that takes connections and ends them before it answers, for one of two keys; on virtual time.
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
    /// What all of them take alone, at one answer a tenth of a second for each of those in flight.
    private static let healthySeconds: Int64 = 1

    private func scene(_ ending: Ending, endpoints: Int, log: Log = .silent) throws -> LaneAPNSHarness {
        let scene = try LaneAPNSHarness(keys: 2, apps: 2, endpoints: endpoints, log: log)
        try scene.harness.onLoop {
            let match = FaultMatch(topic: SimulatedApps.bundleID(1))
            try scene.apns.faults.put(Fault(id: "end", match: match, action: ending.action))
        }
        return scene
    }

    private func places(_ scene: LaneAPNSHarness) -> [BreakerScope] {
        scene.harness.withLane { $0.pipeline.dispatcher.breakers.openings.map(\.scope) }
    }

    @Test(arguments: Ending.allCases, [1, 2]) func theHealthyKeepTheirRate(_ ending: Ending, endpoints: Int) throws {
        let log = try CapturedLog()
        let scene = try scene(ending, endpoints: endpoints, log: log.log)
        // The healthy one has worked before.
        scene.request(1)
        try #require(scene.harness.run { scene.results == 1 })
        for number in 1...Self.count {
            scene.request(1, from: number)
            scene.request(1, from: Self.count + number, app: 1)
        }
        let began = scene.now
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 1 + Self.count })
        #expect(began.duration(to: scene.now) <= .seconds(15 + Self.healthySeconds))
        #expect(places(scene) == [endpoints == 1 ? .credential(pool: 1) : .endpoint(1)])
        #expect(log.lines().filter { $0.contains("breaker.opened") && $0.contains("unanswered") }.count == 1)

        // While it lasts, one message probes now and then, and connections do not storm.
        let connections = scene.connections
        let mended = scene.now + .seconds(120)
        #expect(scene.harness.run { scene.now >= mended })
        #expect(scene.connections - connections <= 20)
        scene.harness.onLoop { scene.apns.faults.remove(id: "end") }
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 1 + 2 * Self.count })
        #expect(scene.results == 1 + 2 * Self.count && places(scene).isEmpty)
        #expect(mended.duration(to: scene.now) <= .seconds(360))
    }

    @Test func connectionsThatEndIdleHoldNothing() throws {
        let scene = try LaneAPNSHarness()
        for number in 0..<10 {
            scene.request(1, from: number)
            try #require(
                scene.harness.run { scene.results == number + 1 && scene.harness.counters.inFlight.value == 0 })
            scene.end(.cut)
            scene.harness.pass(seconds: 30)
        }
        #expect(scene.connections == 10 && scene.waits == 0 && places(scene).isEmpty)
    }
}
