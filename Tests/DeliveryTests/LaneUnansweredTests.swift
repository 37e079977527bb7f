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
    func anUnansweringServerCostsFewAttempts(_ action: FaultAction) throws {
        let fixture = try LaneAPNSHarness(connectionsMax: 2)
        try fixture.harness.onLoop { try fixture.apns.faults.put(Fault(id: "mute", action: action)) }
        fixture.request(200)
        let mended = fixture.now + .seconds(600)
        #expect(fixture.harness.run { fixture.now >= mended })
        // What the breaker needs to see, and then one for each of its probes.
        #expect(fixture.pushes.count <= EndpointEvidence.messagesMin + 20)
        #expect(fixture.results == 0)

        fixture.harness.onLoop { fixture.apns.faults.remove(id: "mute") }
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 200 })
        // Requests that probed wait as long as their attempts demand, 10 minutes at most.
        #expect(mended.duration(to: fixture.now) <= .seconds(680))
    }

    @Test func theLastAttemptIsReportedWithItsTime() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop { try fixture.apns.faults.put(Fault(id: "mute", action: .silence)) }
        fixture.harness.request(
            LaneAPNSHarness.message(0, app: 0), headers: ["push-attempt": 7, "push-retry-rounds": 7])
        #expect(fixture.harness.run { fixture.results == 1 })
        let result = try #require(fixture.harness.queue(fixture.harness.names.resultsQueue)?.ready.first)
        let root = try JSONDocument(result.body).root
        #expect(root["outcome"]?.string == "unknown" && root["attempts"]?.int == 8 && root["sent_at"] != nil)
    }
}
