import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Pauses by an operator, on virtual time.
@Suite struct LanePauseTests {
    @Test func aPausedLaneConsumesNothingAndSettlesItsDeliveries() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(5)
        try #require(fixture.harness.run { fixture.pushes.count == 5 })
        #expect(fixture.harness.pause(.everything))
        #expect(fixture.harness.run { fixture.results == 5 })
        fixture.request(20, from: 5)
        fixture.harness.pass(seconds: 600)
        let status = try #require(fixture.harness.status())
        #expect(!fixture.harness.isReady && fixture.pushes.count == 5 && fixture.harness.queue()?.ready.count == 20)
        #expect(status.state.reasons == ["paused by an operator; for the command to resume, run: martlet status"])
        #expect(status.inFlight == 0)
        #expect(fixture.harness.pause(.everything, false))
        #expect(fixture.harness.run { fixture.harness.isReady && fixture.results == 25 })
        #expect(fixture.waits == 0 && fixture.pushes.count == 25)
    }

    @Test func aPausedKeyHoldsOnlyItsOwnApps() throws {
        let fixture = try LaneAPNSHarness(keys: 2, apps: 2)
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0))))
        fixture.request(3, app: 0)
        fixture.request(3, from: 3, app: 1)
        try #require(fixture.harness.run { fixture.results == 3 && fixture.waits == 3 })
        #expect(fixture.pushes.count == 3 && fixture.harness.counters.held.value == 3)
        let status = try #require(fixture.harness.status())
        #expect(status.pauses.count == 1 && status.pauses[0].hasSuffix("key \(SimulatedApps.keyID(0))"))
        #expect(status.breakers.isEmpty && status.state.isReady)
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0)), false))
        #expect(fixture.harness.run { fixture.results == 6 })
        #expect(fixture.harness.status()?.pauses == [] && fixture.harness.deadLetters.isEmpty)
    }

    // Metrics.md documents both labels. An alert selects series by `reason`, and the dashboard groups them by `reason`.
    @Test func aPausedRequestIsCountedWithItsDelayAndReason() throws {
        let fixture = try LaneAPNSHarness()
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0))))
        fixture.request(3)
        try #require(fixture.harness.run { fixture.waits == 3 })
        let series = fixture.harness.counters.registry.counts(of: "martlet_retry_total")
        #expect(series.map(\.count) == [3])
        let labels = series.map { Dictionary(uniqueKeysWithValues: $0.labels.map { ($0.key, $0.value) }) }
        #expect(labels == [["delay": "30s", "reason": "held-paused"]])
    }

    @Test func anExpiredRequestOfAPausedTopicIsNotHeld() throws {
        let fixture = try LaneAPNSHarness()
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0))))
        let expiration = fixture.harness.loop.now.unixSeconds - 1
        fixture.harness.request(
            #"""
            {"app":"\#(SimulatedApps.bundleID(0))","device_token":"aabb","push_type":"alert","expiration":\#(expiration),
             "id":"\#(LaneAPNSHarness.id(1))","payload":{"aps":{"alert":"x"}}}
            """#)
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .expired) == 1 })
        #expect(fixture.harness.counters.held.value == 0 && fixture.waits == 0)
    }

    @Test func aPausedTopicHoldsOnlyItsPushes() throws {
        let fixture = try LaneAPNSHarness(apps: 2)
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0))))
        fixture.request(3, app: 0)
        fixture.request(3, from: 3, app: 1)
        try #require(fixture.harness.run { fixture.results == 3 && fixture.waits == 3 })
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0)), false))
        #expect(fixture.harness.run { fixture.results == 6 })
    }

    /// With all used scopes paused, the lane still consumes requests and moves them to wait queues.
    @Test(arguments: [PauseScope.key(SimulatedApps.keyID(0)), .topic(SimulatedApps.bundleID(0))])
    func pausingAllUsedScopesDoesNotStopTheLane(_ scope: PauseScope) throws {
        let fixture = try LaneAPNSHarness()
        #expect(fixture.harness.pause(scope))
        fixture.request(50)
        fixture.harness.pass(seconds: 20)
        #expect(fixture.waits == 50 && fixture.pushes.isEmpty)
        #expect(fixture.harness.stops == 0 && fixture.harness.queue()?.consumerCount == 1)
        #expect(fixture.harness.pause(scope, false))
        #expect(fixture.harness.run { fixture.accepted == 50 })
    }

    @Test func unknownScopesCannotBePaused() throws {
        let fixture = try LaneAPNSHarness()
        #expect(!fixture.harness.pause(.key("NOSUCHKEY0")) && !fixture.harness.pause(.topic("com.example.none")))
        fixture.request(1)
        #expect(fixture.harness.run { fixture.results == 1 })
    }

    /// The end of a pause does not close an open breaker, and a closing breaker does not end a pause.
    @Test func aPauseAndABreakerDoNotEndEachOther() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.waits > 0 })
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0))))
        #expect(fixture.harness.status()?.breakers.map(\.code) == ["InvalidProviderToken"])
        fixture.harness.onLoop { fixture.restore(0) }
        fixture.harness.pass(seconds: 600)
        #expect(fixture.results == 0)
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0)), false))
        #expect(fixture.harness.run { fixture.results == 1 })
        #expect(fixture.harness.status()?.breakers.isEmpty == true)
    }
}
