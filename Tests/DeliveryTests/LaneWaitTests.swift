import APNSProtocol
import APNSSimulator
import TestKit
import Testing

@testable import Delivery

/// A message that waits at the broker, on virtual time.
@Suite struct LaneWaitTests {
    /// The broker may be slower with its confirm than with the wait.
    @Test func whatIsBackBeforeItsConfirmIsTold() throws {
        let scene = try LaneScene()
        try scene.rig.onLoop {
            scene.rig.broker.behaviour.confirmDelayMilliseconds = 20_000...20_000
            try scene.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        scene.request(1)
        #expect(scene.rig.run { scene.results == 1 })
        #expect(scene.pushes.map(\.status) == [429, 200])
    }
}
