import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import Crypto
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane whose way to APNs is lost while there is much to do, on virtual time.
@Suite struct LaneOutageTests {
    enum Ending: CaseIterable {
        case cut
        /// The connections are ended in order, what is open on them is answered.
        case goAway
    }

    @Test(arguments: Ending.allCases, [1, 2])
    func fewRequestsAreMovedDuringAnOutage(_ ending: Ending, connectionsMax: Int) throws {
        let scene = try LaneAPNSHarness(connectionsMax: connectionsMax)
        let outageSeconds = 180
        scene.request(300)
        // As many as may be are on their way.
        try #require(scene.harness.run { scene.pushes.count >= 10 * LaneHarness.inFlightMax })
        let published = scene.results
        scene.network.set(.refused, to: .sandbox)
        scene.end(ending)
        let lost = scene.now
        #expect(scene.harness.run { scene.now >= lost + .seconds(outageSeconds) })
        // Those in flight, and those that took their place before the lane stopped.
        #expect(scene.results + scene.waits - published <= 2 * LaneHarness.inFlightMax)
        #expect(scene.harness.stops == 1)

        scene.network.set(.open, to: .sandbox)
        let back = scene.now
        let pushes = scene.pushes.count
        #expect(scene.harness.run { scene.pushes.count > pushes })
        #expect(scene.now <= back + .seconds(10))
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 300 })
        #expect(scene.results == 300)
    }

    /// The lane does not know of the other endpoint until it has lost the first.
    @Test(arguments: [SimulatedNetwork.Way.refused, .silent])
    func theBacklogStaysInItsQueueWhileNoEndpointAcceptsConnections(_ way: SimulatedNetwork.Way) throws {
        let scene = try LaneAPNSHarness(keys: 2, environments: [.sandbox, .production], apps: 2)
        scene.request(300)
        try #require(scene.harness.run { scene.pushes.count >= 10 * LaneHarness.inFlightMax })
        let published = scene.results
        scene.network.set(way, to: .sandbox)
        scene.network.set(way, to: .production)
        scene.end(.cut)
        scene.harness.pass(seconds: 180)
        #expect(scene.results + scene.waits - published <= 2 * LaneHarness.inFlightMax)
        let reasons = scene.harness.status()?.state.reasons
        #expect(reasons == ["no endpoint of APNs accepts a connection; see breakers in its status"])
        #expect(scene.harness.stops == 1)

        scene.network.set(.open, to: .sandbox)
        let (back, pushes) = (scene.now, scene.pushes.count)
        #expect(scene.harness.run { scene.pushes.count > pushes })
        // The last unanswered attempt to connect ends first.
        #expect(scene.now <= back + .seconds(way == .silent ? 20 : 10))
        #expect(scene.harness.run { scene.accepted == 300 })
    }

    /// An endpoint that no request was for is enough.
    @Test func consumptionGoesOnWhileAnEndpointWithoutTrafficAcceptsConnections() throws {
        let scene = try LaneAPNSHarness(keys: 2, environments: [.sandbox, .production], apps: 2)
        scene.network.set(.refused, to: .sandbox)
        scene.request(300)
        scene.harness.pass(seconds: 20)
        #expect(scene.harness.stops == 0 && scene.waits >= 300 && scene.harness.queue()?.ready.isEmpty == true)
        scene.network.set(.open, to: .sandbox)
        #expect(scene.harness.run { scene.accepted == 300 })
    }

    @Test(arguments: Ending.allCases) func aConnectionThatIsReplacedAtOnceHoldsNothingUp(_ ending: Ending) throws {
        let scene = try LaneAPNSHarness(connectionsMax: 1)
        scene.request(300)
        var consumed = true
        func run(until isDone: () -> Bool) -> Bool {
            scene.harness.run {
                if scene.harness.queue()?.consumerCount != 1 { consumed = false }
                return isDone()
            }
        }
        for rounds in [5, 10, 15] {
            try #require(run { scene.pushes.count >= rounds * LaneHarness.inFlightMax })
            scene.end(ending)
        }
        #expect(run { scene.results == 300 })
        #expect(consumed, "it has cancelled its consumer")
        #expect(scene.waits <= (ending == .cut ? 3 * LaneHarness.inFlightMax : 0))
        #expect(scene.harness.stops == 0)
    }

    /// As of the other environment, where APNs ends connections over them (decision 19).
    @Test func aListOfForeignDeviceTokensHoldsNothingUp() throws {
        let scene = try LaneAPNSHarness(connectionsMax: 1)
        let badMax = 20
        scene.apns.state.rules.badDeviceTokensMax = badMax
        scene.apns.state.deviceRules = [DeviceRule(prefix: "bad0", condition: .bad)]
        for number in 0..<300 {
            scene.harness.request(LaneAPNSHarness.message(number, app: 0).replacing("aabb", with: "bad0"))
        }
        scene.request(50, from: 300)
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 50 })
        #expect(scene.results == 350 && scene.harness.counters.count(of: .rejected) == 300)
        #expect(scene.harness.stops == 0 && scene.waits == 0)
        #expect(scene.connections > 300 / (badMax + LaneHarness.inFlightMax))
        #expect(scene.pushes.count == 350)
    }

    @Test func anIdleConnectionIsNotReplaced() throws {
        let scene = try LaneAPNSHarness(connectionsMax: 1)
        scene.request(1)
        try #require(scene.harness.run { scene.results == 1 && scene.harness.counters.inFlight.value == 0 })
        scene.end(.cut)
        let later = scene.now + .seconds(600)
        #expect(scene.harness.run { scene.now >= later })
        #expect(scene.connections == 1)
        scene.request(1, from: 1)
        #expect(scene.harness.run { scene.results == 2 })
        #expect(scene.connections == 2)
    }

    /// A credential that is refused while nothing waits: no push says so, and none may wait for a connection for ever.
    @Test(arguments: Ending.allCases) func aRefusedCertificateIsNoticedWithoutAPush(_ ending: Ending) throws {
        let log = try CapturedLog()
        let scene = try LaneAPNSHarness(connectionsMax: 1, log: log.log)
        scene.request(1)
        try #require(scene.harness.run { scene.pushes.count == 1 })
        scene.network.set(.certificateRefused, to: .sandbox)
        scene.end(ending)
        scene.harness.pass(seconds: 10)
        #expect(log.lines().count { $0.contains("pushes are held up") } == 1)
        scene.request(5, from: 1)
        scene.harness.pass(seconds: 60)
        scene.network.set(.open, to: .sandbox)
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 6 })
        #expect(log.lines().count { $0.contains("pushes go on") } == 1)
    }

    /// Connecting without a push would bring the same refusal again and again.
    @Test func whoIsRefusedConnectsForPushesOnly() throws {
        let scene = try LaneAPNSHarness(keys: 2, apps: 2)
        scene.set(.refused, ofKey: 0)
        scene.request(1, app: 1)
        scene.request(1, from: 1)
        scene.harness.pass(seconds: 20)
        #expect(scene.harness.status()?.breakers.map(\.code) == ["unreachable"])
        scene.set(.certificateRefused, ofKey: 0)
        scene.harness.pass(seconds: 20)
        #expect(scene.harness.pause(.everything))
        #expect(scene.harness.status()?.breakers.map(\.code) == ["certificate-refused"])
        let connects = scene.harness.counters.registry.count(of: "martlet_apns_connects_total")
        scene.harness.pass(seconds: 600)
        #expect(scene.harness.counters.registry.count(of: "martlet_apns_connects_total") == connects)
        scene.set(nil, ofKey: 0)
        #expect(scene.harness.pause(.everything, false))
        #expect(scene.harness.run { scene.results == 2 })
    }

    @Test func aKeyThatAloneCannotConnectHoldsUpItsOwnPushesAlone() throws {
        let scene = try LaneAPNSHarness(keys: 2, apps: 2)
        scene.set(.refused, ofKey: 0)
        scene.request(5, app: 1)
        scene.request(5, from: 5)
        scene.harness.pass(seconds: 120)
        #expect(scene.harness.counters.count(of: .accepted) == 5)
        #expect(scene.harness.stops == 0)
        let breakers = scene.harness.status()?.breakers ?? []
        #expect(breakers.map(\.code) == ["unreachable"])
        #expect(breakers.first?.route.contains(" key \(SimulatedApps.keyID(0))") == true)
        scene.set(nil, ofKey: 0)
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 10 })
        #expect(scene.harness.status()?.breakers.isEmpty == true)
    }
}
