import APNSProtocol
import APNSSimulator
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Requests queued behind requests that an open breaker holds, on virtual time.
@Suite struct LaneStarvationTests {
    private static let healthy = 1_000_000

    /// Returns a harness with two apps, each with its own key and endpoint.
    ///
    /// - Parameter prefetch: The maximum number of requests in flight.
    private func fixture(prefetch: Int) throws -> LaneAPNSHarness {
        try LaneAPNSHarness(inFlightMax: prefetch, keys: 2, environments: [.sandbox, .production], apps: 2)
    }

    @Test func requestsBehindThoseOfAnUnreachableEndpointArePushedSoon() throws {
        let fixture = try fixture(prefetch: 100)
        fixture.network.set(.refused, to: .sandbox)
        let count = 1000
        fixture.request(count)
        fixture.request(5, from: Self.healthy, app: 1)
        let began = fixture.now
        try #require(fixture.harness.run { fixture.accepted == 5 })
        #expect(began.duration(to: fixture.now) < .seconds(10))
        #expect(fixture.harness.stops == 0)

        fixture.network.set(.open, to: .sandbox)
        #expect(fixture.harness.run { fixture.accepted == count + 5 })
        #expect(
            fixture.pushes.count == count + 5 && fixture.harness.deadLetters.isEmpty, "a held request was pushed")
    }

    @Test func aNewLanePushesRequestsBehindHeldOnes() throws {
        let fixture = try fixture(prefetch: 100)
        fixture.network.set(.refused, to: .sandbox)
        fixture.request(20)
        fixture.request(1, from: Self.healthy, app: 1)
        let began = fixture.now
        try #require(fixture.harness.run { fixture.results == 1 })
        #expect(began.duration(to: fixture.now) < .seconds(2))
    }

    // The endpoint is reachable, so requests probe it.
    @Test func requestsBehindThoseOfAFailingEndpointArePushedSoon() throws {
        let fixture = try fixture(prefetch: 50)
        let fault = Fault(
            id: "failing", match: FaultMatch(topic: SimulatedApps.bundleID(0)),
            action: .answer(.refused(.serviceUnavailable)))
        try fixture.harness.onLoop { try fixture.apns.faults.put(fault) }
        fixture.request(500)
        fixture.request(5, from: Self.healthy, app: 1)
        let began = fixture.now
        try #require(fixture.harness.run { fixture.results == 5 })
        #expect(began.duration(to: fixture.now) < .seconds(10))
        fixture.harness.pass(seconds: 60)
        #expect(fixture.harness.stops == 0 && fixture.harness.queue()?.consumerCount == 1)
        fixture.harness.onLoop { fixture.apns.faults.remove(id: "failing") }
        let recovered = fixture.now
        #expect(fixture.harness.run { fixture.accepted == 6 })
        #expect(recovered.duration(to: fixture.now) <= .seconds(11))
        #expect(fixture.harness.run { fixture.accepted == 505 })
    }

    @Test func requestsBehindThoseOfARevokedKeyArePushedSoon() throws {
        let fixture = try fixture(prefetch: 50)
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(500)
        fixture.request(5, from: Self.healthy, app: 1)
        let began = fixture.now
        try #require(fixture.harness.run { fixture.results == 5 })
        #expect(began.duration(to: fixture.now) < .seconds(10))
        fixture.harness.onLoop { fixture.restore(0) }
        #expect(fixture.harness.run { fixture.accepted == 505 })
    }
}
