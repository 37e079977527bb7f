import APNSProtocol
import APNSSimulator
import EventLoop
import TestKit
import Testing

@testable import Delivery

/// Requests in wait queues, on virtual time.
@Suite struct LaneWaitTests {
    // The wait may end before the broker confirms the publish.
    @Test func aRequestThatReturnsBeforeItsConfirmIsReported() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            fixture.harness.broker.behavior.confirmDelayMilliseconds = 20_000...20_000
            try fixture.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        fixture.request(1)
        #expect(fixture.harness.run { fixture.results == 1 })
        #expect(fixture.pushes.map(\.status) == [429, 200])
    }

    /// Row 100 of the conformance table. APNs throttles one device.
    @Test func aDeviceThatGetsTooManyDelaysNoOther() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(
                Fault(
                    id: "busy", match: FaultMatch(devicePrefix: "bb00"), action: .answer(.refused(.tooManyRequests)),
                    countMax: 2))
        }
        let start = fixture.now
        for number in 0..<20 {
            let message = LaneAPNSHarness.message(number, app: 0)
            fixture.harness.request(number % 10 == 0 ? message.replacing("aabb", with: "bb00") : message)
        }
        try #require(fixture.harness.run { fixture.results == 18 })
        #expect(start.duration(to: fixture.now) < .seconds(5), "other requests waited for a throttled device")
        #expect(fixture.waits == 2 && fixture.harness.status()?.breakers.isEmpty == true && fixture.harness.isReady)
        #expect(fixture.harness.run { fixture.results == 20 })
        #expect(fixture.pushes.count { $0.status == 200 } == 20)
        #expect(fixture.harness.deadLetters.isEmpty)
    }
}
