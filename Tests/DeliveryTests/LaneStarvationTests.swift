import APNSProtocol
import APNSSimulator
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Requests whose endpoint, key or topic is held do not starve the others; on virtual time.
@Suite struct LaneStarvationTests {
    private static let healthy = 1_000_000

    /// - Parameter prefetch: fewer than there are requests of the endpoint that is away.
    private func scene(prefetch: Int) throws -> LaneAPNSHarness {
        try LaneAPNSHarness(inFlightMax: prefetch, keys: 2, environments: [.sandbox, .production], apps: 2)
    }

    @Test func requestsBehindThoseOfAnUnreachableEndpointArePushedSoon() throws {
        let scene = try scene(prefetch: 100)
        scene.network.set(.refused, to: .sandbox)
        let count = 1000
        scene.request(count)
        scene.request(5, from: Self.healthy, app: 1)
        let began = scene.now
        try #require(scene.harness.run { scene.accepted == 5 })
        #expect(began.duration(to: scene.now) < .seconds(10))
        #expect(scene.harness.stops == 0)

        scene.network.set(.open, to: .sandbox)
        #expect(scene.harness.run { scene.accepted == count + 5 })
        #expect(scene.pushes.count == count + 5 && scene.harness.deadLetters.isEmpty, "a request was tried while held")
    }

    @Test func aFreshLanePushesWhatStandsBehindDeadRequests() throws {
        let scene = try scene(prefetch: 100)
        scene.network.set(.refused, to: .sandbox)
        scene.request(20)
        scene.request(1, from: Self.healthy, app: 1)
        let began = scene.now
        try #require(scene.harness.run { scene.results == 1 })
        #expect(began.duration(to: scene.now) < .seconds(2))
    }

    /// That endpoint is reachable: it is probed by requests.
    @Test func requestsBehindThoseOfAFailingEndpointArePushedSoon() throws {
        let scene = try scene(prefetch: 50)
        let fault = Fault(
            id: "failing", match: FaultMatch(topic: SimulatedApps.bundleID(0)),
            action: .answer(.refused(.serviceUnavailable)))
        try scene.harness.onLoop { try scene.apns.faults.put(fault) }
        scene.request(500)
        scene.request(5, from: Self.healthy, app: 1)
        let began = scene.now
        try #require(scene.harness.run { scene.results == 5 })
        #expect(began.duration(to: scene.now) < .seconds(10))
        scene.harness.pass(seconds: 60)
        #expect(scene.harness.stops == 0 && scene.harness.queue()?.consumerCount == 1)
        scene.harness.onLoop { scene.apns.faults.remove(id: "failing") }
        let recovered = scene.now
        #expect(scene.harness.run { scene.accepted == 6 })
        #expect(recovered.duration(to: scene.now) <= .seconds(11))
        #expect(scene.harness.run { scene.accepted == 505 })
    }

    @Test func requestsBehindThoseOfARevokedKeyArePushedSoon() throws {
        let scene = try scene(prefetch: 50)
        scene.harness.onLoop { scene.revoke(0) }
        scene.request(500)
        scene.request(5, from: Self.healthy, app: 1)
        let began = scene.now
        try #require(scene.harness.run { scene.results == 5 })
        #expect(began.duration(to: scene.now) < .seconds(10))
        scene.harness.onLoop { scene.restore(0) }
        #expect(scene.harness.run { scene.accepted == 505 })
    }
}
