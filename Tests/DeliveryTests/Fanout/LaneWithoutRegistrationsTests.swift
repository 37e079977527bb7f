import AMQP
import APNSSimulator
import BrokerTopology
import JSON
import TestKit
import Testing

@testable import Delivery

/// Requests to users in a lane without registrations.
@Suite struct LaneWithoutRegistrationsTests {
    @Test func `A request to a user becomes a dead letter`() throws {
        let fixture = try LaneAPNSHarness()
        let harness = fixture.harness
        let app = SimulatedApps.bundleID(0)
        let body = """
            {"id":"\(LaneAPNSHarness.id(1))","app":"\(app)","user":"ann","push_type":"alert",
             "payload":{"aps":{"alert":"x"}}}
            """
        harness.request(body)
        #expect(harness.run { fixture.results == 1 && harness.deadLetters.count == 1 })
        let letter = try #require(harness.deadLetters.first)
        #expect(letter.routingKey == "dead.registration.not_configured.\(app)" && letter.body == Array(body.utf8))
        #expect(letter.properties.header("push-error-path") == "/user")
        let result = try #require(harness.broker.queue(harness.names.resultsQueue)?.ready.first)
        let root = try JSONDocument(result.body).root
        #expect(root["outcome"]?.string == "invalid" && root["user"]?.string == "ann")
        #expect(root["error"]?["class"]?.string == "registration" && root["devices"] == nil)
        #expect(fixture.pushes.isEmpty)
    }
}
