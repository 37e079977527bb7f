import AMQP
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A server that accepts connections in place of APNs but does not answer pushes, on virtual time.
@Suite struct LaneUnansweredTests {
    // Without a breaker, the lane would attempt every queued request and finally report unknown outcomes.
    @Test(arguments: [FaultAction.silence, .closeConnection, .resetConnection])
    func anUnansweringServerCostsFewAttempts(_ action: FaultAction) throws {
        let fixture = try LaneAPNSHarness(connectionsMax: 2)
        try fixture.harness.onLoop { try fixture.apns.faults.put(Fault(id: "mute", action: action)) }
        fixture.request(200)
        let mended = fixture.now + .seconds(600)
        #expect(fixture.harness.run { fixture.now >= mended })
        // The breaker needs some unanswered pushes to open. Each probe is one push.
        #expect(fixture.pushes.count <= EndpointEvidence.messagesMin + 20)
        #expect(fixture.results == 0)

        fixture.harness.onLoop { fixture.apns.faults.remove(id: "mute") }
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 200 })
        // Requests that probed the breaker wait longer after each attempt.
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
