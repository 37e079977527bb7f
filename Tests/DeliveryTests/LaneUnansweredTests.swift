import AMQP
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A server that takes connections in APNs' place and never answers a push, on virtual time.
@Suite struct LaneUnansweredTests {
    /// Else all that is queued would be tried in turn, and given up as unknown in the end.
    @Test(arguments: [FaultAction.silence, .closeConnection, .resetConnection])
    func itCostsAFewTriesAndNoMore(_ action: FaultAction) throws {
        let scene = try LaneAPNSHarness(connectionsMax: 2)
        try scene.harness.onLoop { try scene.apns.faults.put(Fault(id: "mute", action: action)) }
        scene.request(200)
        let mended = scene.now + .seconds(600)
        #expect(scene.harness.run { scene.now >= mended })
        // What the breaker needs to see, and then one for each of its probes.
        #expect(scene.pushes.count <= EndpointEvidence.messagesMin + 20)
        #expect(scene.results == 0)

        scene.harness.onLoop { scene.apns.faults.remove(id: "mute") }
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 200 })
        // Requests that probed wait as long as their attempts demand, 10 minutes at most.
        #expect(mended.duration(to: scene.now) <= .seconds(680))
    }

    @Test func theLastTryIsToldWithItsTime() throws {
        let scene = try LaneAPNSHarness()
        try scene.harness.onLoop { try scene.apns.faults.put(Fault(id: "mute", action: .silence)) }
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: ["push-attempt": 7, "push-retry-rounds": 7])
        #expect(scene.harness.run { scene.results == 1 })
        let result = try #require(scene.harness.queue(scene.harness.names.resultsQueue)?.ready.first)
        let told = try JSONDocument(result.body).root
        #expect(told["outcome"]?.string == "unknown" && told["attempts"]?.int == 8 && told["sent_at"] != nil)
    }
}
