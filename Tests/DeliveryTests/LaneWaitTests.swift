import APNSProtocol
import APNSSimulator
import EventLoop
import TestKit
import Testing

@testable import Delivery

/// A message that waits at the broker, on virtual time.
@Suite struct LaneWaitTests {
    /// The broker may be slower with its confirm than with the wait.
    @Test func whatIsBackBeforeItsConfirmIsTold() throws {
        let scene = try LaneAPNSHarness()
        try scene.harness.onLoop {
            scene.harness.broker.behaviour.confirmDelayMilliseconds = 20_000...20_000
            try scene.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        scene.request(1)
        #expect(scene.harness.run { scene.results == 1 })
        #expect(scene.pushes.map(\.status) == [429, 200])
    }

    /// Row 100: APNs has had enough of one device.
    @Test func aDeviceThatGetsTooManyDelaysNoOther() throws {
        let scene = try LaneAPNSHarness()
        try scene.harness.onLoop {
            try scene.apns.faults.put(
                Fault(
                    id: "busy", match: FaultMatch(devicePrefix: "bb00"), action: .answer(.refused(.tooManyRequests)),
                    countMax: 2))
        }
        let start = scene.now
        for number in 0..<20 {
            let message = LaneAPNSHarness.message(number, app: 0)
            scene.harness.request(number % 10 == 0 ? message.replacing("aabb", with: "bb00") : message)
        }
        try #require(scene.harness.run { scene.results == 18 })
        #expect(start.duration(to: scene.now) < .seconds(5), "the shortest wait of those that are delayed")
        #expect(scene.waits == 2 && scene.harness.status()?.breakers.isEmpty == true && scene.harness.isReady)
        #expect(scene.harness.run { scene.results == 20 })
        #expect(scene.pushes.count { $0.status == 200 } == 20)
        #expect(scene.harness.deadLetters.isEmpty)
    }
}
