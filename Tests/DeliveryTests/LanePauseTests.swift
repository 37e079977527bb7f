import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// What an operator pauses; on virtual time.
@Suite struct LanePauseTests {
    @Test func aPausedLaneTakesNothingAndSettlesWhatItHas() throws {
        let scene = try LaneAPNSHarness()
        scene.request(5)
        try #require(scene.harness.run { scene.pushes.count == 5 })
        #expect(scene.harness.pause(.everything))
        #expect(scene.harness.run { scene.results == 5 })
        scene.request(20, from: 5)
        scene.harness.pass(seconds: 600)
        let status = try #require(scene.harness.status())
        #expect(!scene.harness.isReady && scene.pushes.count == 5 && scene.harness.queue()?.ready.count == 20)
        #expect(status.state.reasons == ["paused by an operator: run: martlet resume"] && status.inFlight == 0)
        #expect(scene.harness.pause(.everything, false))
        #expect(scene.harness.run { scene.harness.isReady && scene.results == 25 })
        #expect(scene.waits == 0 && scene.pushes.count == 25)
    }

    @Test func aPausedKeyHoldsUpItsOwnAppsAlone() throws {
        let scene = try LaneAPNSHarness(keys: 2, apps: 2)
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0))))
        scene.request(3, app: 0)
        scene.request(3, from: 3, app: 1)
        try #require(scene.harness.run { scene.results == 3 && scene.waits == 3 })
        #expect(scene.pushes.count == 3 && scene.harness.counters.held.value == 3)
        let status = try #require(scene.harness.status())
        #expect(status.pauses.count == 1 && status.pauses[0].hasSuffix("key \(SimulatedApps.keyID(0))"))
        #expect(status.breakers.isEmpty && status.state.isReady)
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0)), false))
        #expect(scene.harness.run { scene.results == 6 })
        #expect(scene.harness.status()?.pauses == [] && scene.harness.deadLetters.isEmpty)
    }

    @Test func aPausedTopicHoldsUpOnlyWhatGoesThere() throws {
        let scene = try LaneAPNSHarness(apps: 2)
        #expect(scene.harness.pause(.topic(SimulatedApps.bundleID(0))))
        scene.request(3, app: 0)
        scene.request(3, from: 3, app: 1)
        try #require(scene.harness.run { scene.results == 3 && scene.waits == 3 })
        #expect(scene.harness.pause(.topic(SimulatedApps.bundleID(0)), false))
        #expect(scene.harness.run { scene.results == 6 })
    }

    /// All that the lane has is paused: it takes requests and has them wait at the broker.
    @Test(arguments: [PauseScope.key(SimulatedApps.keyID(0)), .topic(SimulatedApps.bundleID(0))])
    func aPauseOfAllThatIsUsedDoesNotStopTheLane(_ scope: PauseScope) throws {
        let scene = try LaneAPNSHarness()
        #expect(scene.harness.pause(scope))
        scene.request(50)
        scene.harness.pass(seconds: 20)
        #expect(scene.waits == 50 && scene.pushes.isEmpty)
        #expect(scene.harness.stops == 0 && scene.harness.queue()?.consumerCount == 1)
        #expect(scene.harness.pause(scope, false))
        #expect(scene.harness.run { scene.accepted == 50 })
    }

    @Test func whatIsUnknownCannotBePaused() throws {
        let scene = try LaneAPNSHarness()
        #expect(!scene.harness.pause(.key("NOSUCHKEY0")) && !scene.harness.pause(.topic("com.example.none")))
        scene.request(1)
        #expect(scene.harness.run { scene.results == 1 })
    }

    /// A pause that ends while a breaker is open leaves that as it is, and the other way about.
    @Test func aPauseAndABreakerDoNotEndEachOther() throws {
        let scene = try LaneAPNSHarness()
        scene.harness.onLoop { scene.revoke(0) }
        scene.request(1)
        try #require(scene.harness.run { scene.waits > 0 })
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0))))
        #expect(scene.harness.status()?.breakers.map(\.code) == ["InvalidProviderToken"])
        scene.harness.onLoop { scene.restore(0) }
        scene.harness.pass(seconds: 600)
        #expect(scene.results == 0)
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0)), false))
        #expect(scene.harness.run { scene.results == 1 })
        #expect(scene.harness.status()?.breakers.isEmpty == true)
    }
}
