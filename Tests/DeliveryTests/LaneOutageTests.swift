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

/// A lane that loses its connections to APNs or cannot connect to APNs, on virtual time.
@Suite struct LaneOutageTests {
    enum Ending: CaseIterable {
        case cut
        /// A graceful close of the connections by APNs, which answers the pushes in flight.
        case goAway
    }

    @Test(arguments: Ending.allCases, [1, 2])
    func fewRequestsAreMovedDuringAnOutage(_ ending: Ending, connectionsMax: Int) throws {
        let fixture = try LaneAPNSHarness(connectionsMax: connectionsMax)
        let outageSeconds = 180
        fixture.request(300)
        // After this many pushes, the lane has reached its limit of requests in flight.
        try #require(fixture.harness.run { fixture.pushes.count >= 10 * LaneHarness.inFlightMax })
        let published = fixture.results
        fixture.network.set(.refused, to: .sandbox)
        fixture.end(ending)
        let lost = fixture.now
        #expect(fixture.harness.run { fixture.now >= lost + .seconds(outageSeconds) })
        // Only requests in flight, and requests that followed before the lane stopped, are moved.
        #expect(fixture.results + fixture.waits - published <= 2 * LaneHarness.inFlightMax)
        #expect(fixture.harness.stops == 1)

        fixture.network.set(.open, to: .sandbox)
        let back = fixture.now
        let pushes = fixture.pushes.count
        #expect(fixture.harness.run { fixture.pushes.count > pushes })
        #expect(fixture.now <= back + .seconds(10))
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 300 })
        #expect(fixture.results == 300)
    }

    /// The lane does not test the production endpoint until the sandbox endpoint is lost.
    @Test(arguments: [SimulatedNetwork.State.refused, .silent])
    func theBacklogStaysInItsQueueWhileNoEndpointAcceptsConnections(_ state: SimulatedNetwork.State) throws {
        let fixture = try LaneAPNSHarness(keys: 2, environments: [.sandbox, .production], apps: 2)
        fixture.request(300)
        try #require(fixture.harness.run { fixture.pushes.count >= 10 * LaneHarness.inFlightMax })
        let published = fixture.results
        fixture.network.set(state, to: .sandbox)
        fixture.network.set(state, to: .production)
        fixture.end(.cut)
        fixture.harness.pass(seconds: 180)
        #expect(fixture.results + fixture.waits - published <= 2 * LaneHarness.inFlightMax)
        let reasons = fixture.harness.status()?.state.reasons
        #expect(reasons == ["no endpoint of APNs accepts a connection; for the reasons, run: martlet status"])
        #expect(fixture.harness.stops == 1)

        fixture.network.set(.open, to: .sandbox)
        let (back, pushes) = (fixture.now, fixture.pushes.count)
        #expect(fixture.harness.run { fixture.pushes.count > pushes })
        // With a silent endpoint, the last connection attempt must time out first.
        #expect(fixture.now <= back + .seconds(state == .silent ? 20 : 10))
        #expect(fixture.harness.run { fixture.accepted == 300 })
    }

    // One endpoint that accepts connections keeps consumption running, even if no request uses the endpoint.
    @Test func consumptionContinuesWhileAnUnusedEndpointAcceptsConnections() throws {
        let fixture = try LaneAPNSHarness(keys: 2, environments: [.sandbox, .production], apps: 2)
        fixture.network.set(.refused, to: .sandbox)
        fixture.request(300)
        fixture.harness.pass(seconds: 20)
        #expect(fixture.harness.stops == 0 && fixture.waits >= 300 && fixture.harness.queue()?.ready.isEmpty == true)
        fixture.network.set(.open, to: .sandbox)
        #expect(fixture.harness.run { fixture.accepted == 300 })
    }

    @Test(arguments: Ending.allCases) func aReplacedConnectionDelaysNothing(_ ending: Ending) throws {
        let fixture = try LaneAPNSHarness(connectionsMax: 1)
        fixture.request(300)
        var consumed = true
        func run(until isDone: () -> Bool) -> Bool {
            fixture.harness.run {
                if fixture.harness.queue()?.consumerCount != 1 { consumed = false }
                return isDone()
            }
        }
        for rounds in [5, 10, 15] {
            try #require(run { fixture.pushes.count >= rounds * LaneHarness.inFlightMax })
            fixture.end(ending)
        }
        #expect(run { fixture.results == 300 })
        #expect(consumed, "consumption stopped")
        #expect(fixture.waits <= (ending == .cut ? 3 * LaneHarness.inFlightMax : 0))
        #expect(fixture.harness.stops == 0)
    }

    // APNs ends a connection after many bad device tokens, such as tokens of the other environment (decision 19).
    @Test func aListOfForeignDeviceTokensDelaysNothing() throws {
        let fixture = try LaneAPNSHarness(connectionsMax: 1)
        let badMax = 20
        fixture.apns.state.rules.badDeviceTokensMax = badMax
        fixture.apns.state.deviceRules = [DeviceRule(prefix: "bad0", condition: .bad)]
        for number in 0..<300 {
            fixture.harness.request(LaneAPNSHarness.message(number, app: 0).replacing("aabb", with: "bad0"))
        }
        fixture.request(50, from: 300)
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 50 })
        #expect(fixture.results == 350 && fixture.harness.counters.count(of: .rejected) == 300)
        #expect(fixture.harness.stops == 0 && fixture.waits == 0)
        #expect(fixture.connections > 300 / (badMax + LaneHarness.inFlightMax))
        #expect(fixture.pushes.count == 350)
    }

    @Test func anIdleConnectionIsNotReplaced() throws {
        let fixture = try LaneAPNSHarness(connectionsMax: 1)
        fixture.request(1)
        try #require(fixture.harness.run { fixture.results == 1 && fixture.harness.counters.inFlight.value == 0 })
        fixture.end(.cut)
        let later = fixture.now + .seconds(600)
        #expect(fixture.harness.run { fixture.now >= later })
        #expect(fixture.connections == 1)
        fixture.request(1, from: 1)
        #expect(fixture.harness.run { fixture.results == 2 })
        #expect(fixture.connections == 2)
    }

    // No push waits when APNs refuses the certificate. Later pushes must not wait forever for a connection.
    @Test(arguments: Ending.allCases) func aRefusedCertificateIsNoticedWithoutAPush(_ ending: Ending) throws {
        let log = try CapturedLog()
        let fixture = try LaneAPNSHarness(connectionsMax: 1, log: log.log)
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        fixture.network.set(.certificateRefused, to: .sandbox)
        fixture.end(ending)
        fixture.harness.pass(seconds: 10)
        #expect(log.lines().count { $0.contains("breaker opened, pushes held") } == 1)
        fixture.request(5, from: 1)
        fixture.harness.pass(seconds: 60)
        fixture.network.set(.open, to: .sandbox)
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 6 })
        #expect(log.lines().count { $0.contains("breaker closed, pushes resumed") } == 1)
    }

    // A connection attempt without a push would only repeat the refusal.
    @Test func aRefusedCertificateConnectsOnlyForPushes() throws {
        let fixture = try LaneAPNSHarness(keys: 2, apps: 2)
        fixture.set(.refused, ofKey: 0)
        fixture.request(1, app: 1)
        fixture.request(1, from: 1)
        fixture.harness.pass(seconds: 20)
        #expect(fixture.harness.status()?.breakers.map(\.code) == ["unreachable"])
        fixture.set(.certificateRefused, ofKey: 0)
        fixture.harness.pass(seconds: 20)
        #expect(fixture.harness.pause(.everything))
        #expect(fixture.harness.status()?.breakers.map(\.code) == ["certificate-refused"])
        let connects = fixture.harness.counters.registry.count(of: "martlet_apns_connects_total")
        fixture.harness.pass(seconds: 600)
        #expect(fixture.harness.counters.registry.count(of: "martlet_apns_connects_total") == connects)
        fixture.set(nil, ofKey: 0)
        #expect(fixture.harness.pause(.everything, false))
        #expect(fixture.harness.run { fixture.results == 2 })
    }

    @Test func aKeyThatCannotConnectHoldsOnlyItsOwnPushes() throws {
        let fixture = try LaneAPNSHarness(keys: 2, apps: 2)
        fixture.set(.refused, ofKey: 0)
        fixture.request(5, app: 1)
        fixture.request(5, from: 5)
        fixture.harness.pass(seconds: 120)
        #expect(fixture.harness.counters.count(of: .accepted) == 5)
        #expect(fixture.harness.stops == 0)
        let breakers = fixture.harness.status()?.breakers ?? []
        #expect(breakers.map(\.code) == ["unreachable"])
        #expect(breakers.first?.route.contains(" key \(SimulatedApps.keyID(0))") == true)
        fixture.set(nil, ofKey: 0)
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 10 })
        #expect(fixture.harness.status()?.breakers.isEmpty == true)
    }
}
