import AMQP
import APNSSimulator
import BrokerTopology
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Requests in CloudEvents 1.0 events.
@Suite struct LaneCloudEventTests {
    enum Mode: CaseIterable {
        case structured
        case binary
        /// Binary mode with the prefix of older versions of the binding.
        case binaryWithColon
    }

    /// Publishes an event.
    ///
    /// - Parameters:
    ///   - id: The id of the request itself.
    ///   - request: The request in place of a valid request; `.some(nil)` for an event without data.
    private func publish(
        _ fixture: LaneAPNSHarness, _ mode: Mode, eventID: String, id: String? = nil, messageID: String? = nil,
        version: String = "1.0", request: String?? = .none
    ) {
        let member = id.map { #""id":"\#($0)","# } ?? ""
        let app = SimulatedApps.bundleID(0)
        let good =
            #"{\#(member)"app":"\#(app)","device_token":"aabb","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#
        let attributes = [
            ("specversion", version), ("id", eventID), ("source", "/shop"), ("type", "push.requested"),
            ("traceparent", LaneTracingTests.parent), ("tracestate", "vendor=1"),
        ]
        var headers = FieldTable()
        let data = request ?? good
        var body = data ?? ""
        switch mode {
        case .structured:
            body =
                "{\(attributes.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ","))\(data.map { ",\"data\": \($0)" } ?? "")}"
        case .binary, .binaryWithColon:
            let prefix = mode == .binary ? "cloudEvents_" : "cloudEvents:"
            for (name, value) in attributes { headers.append(prefix + name, .string(value)) }
        }
        fixture.harness.onLoop {
            _ = fixture.harness.broker.publish(
                exchange: fixture.harness.names.requestsExchange, routingKey: "-", messageID: messageID,
                headers: headers,
                body: Array(body.utf8))
        }
    }

    @Test(arguments: Mode.allCases) func theRequestIsPushedInItsTrace(_ mode: Mode) throws {
        let fixture = try LaneAPNSHarness(traces: true)
        publish(fixture, mode, eventID: LaneAPNSHarness.id(7))
        #expect(fixture.harness.run { fixture.results == 1 })
        #expect(fixture.pushes.map(\.status) == [200])
        #expect(fixture.pushes.first?.payload == Array(#"{"aps":{"alert":"x"}}"#.utf8))
        let result = try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)?.ready.first)
        let root = try JSONDocument(result.body).root
        #expect(root["id"]?.string == LaneAPNSHarness.id(7) && root["app"]?.string == SimulatedApps.bundleID(0))
        #expect(root["device_token"]?.string == "aabb" && root["outcome"]?.string == "accepted")
        #expect(result.properties.header("tracestate")?.stringValue == "vendor=1")
        fixture.harness.pass(seconds: 2)
        let whole = try #require(fixture.harness.spans.first)
        #expect(whole.context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(result.properties.header("traceparent")?.stringValue == whole.context.traceParent)
    }

    // The trace headers of a message have precedence over the trace attributes of its event.
    @Test(arguments: Mode.allCases) func publishedMessagesContinueTheTrace(_ mode: Mode) throws {
        let fixture = try LaneAPNSHarness(traces: true)
        let waiting = try LaneTracingTests.waiting(fixture) { publish(fixture, mode, eventID: LaneAPNSHarness.id(7)) }
        publish(fixture, mode, eventID: LaneAPNSHarness.id(8), request: "{}")
        try #require(fixture.harness.run { fixture.results == 2 })
        fixture.harness.pass(seconds: 2)
        let tries = fixture.harness.spans.filter { $0.name == "process push.requests" }
        try #require(tries.count == 3)
        try LaneTracingTests.expect(waiting, below: tries[0])
        try LaneTracingTests.expect(#require(fixture.harness.deadLetters.first), below: tries[1])
        #expect(tries[2].parentSpanID == tries[0].context.spanID)
    }

    /// The id of the request has precedence over the id of the message, which has precedence over the id of the event.
    @Test(arguments: Mode.allCases) func theInnermostIDIdentifiesTheRequest(_ mode: Mode) throws {
        let fixture = try LaneAPNSHarness()
        publish(
            fixture, mode, eventID: LaneAPNSHarness.id(1), id: LaneAPNSHarness.id(2), messageID: LaneAPNSHarness.id(3))
        publish(fixture, mode, eventID: LaneAPNSHarness.id(1), messageID: LaneAPNSHarness.id(3))
        publish(fixture, mode, eventID: "17")
        #expect(fixture.harness.run { fixture.results == 3 })
        let results = fixture.harness.broker.queue(fixture.harness.names.resultsQueue)?.ready ?? []
        let ids = try results.map { try JSONDocument($0.body).root["id"]?.string }
        // The last id is the UUIDv5 of "/shop 17".
        #expect(Set(ids) == [LaneAPNSHarness.id(2), LaneAPNSHarness.id(3), "de67269f-8af1-59aa-8554-c8edebeeb696"])
    }

    @Test(arguments: [
        (#""push_type":"alarm""#, "push_type"), (#""push_type":"alert","environment":"production""#, "environment"),
        (#""push_type":"alert","collapse_id":"\#(String(repeating: "ü", count: 33))""#, "collapse_id"),
    ])
    func aViolationInTheDataIsReportedWithThePathInTheEvent(_ members: String, _ name: String) throws {
        let fixture = try LaneAPNSHarness()
        let app = SimulatedApps.bundleID(0)
        let event = """
            {"specversion":"1.0","id":"1","source":"/","type":"t","data":
             {"id":"\(LaneAPNSHarness.id(5))","app":"\(app)","device_token":"aabb",\(members),"payload":{"aps":{"alert":"x"}}}}
            """
        fixture.harness.request(event)
        #expect(fixture.harness.run { fixture.harness.deadLetters.count == 1 })
        let letter = try #require(fixture.harness.deadLetters.first)
        #expect(letter.body == Array(event.utf8), "the dead letter has another body")
        #expect(letter.properties.header("push-error-path") == .string("/data/\(name)"))
        #expect(letter.properties.header("push-apns-id")?.stringValue == LaneAPNSHarness.id(5))
        #expect(letter.routingKey.hasSuffix(app))
    }

    // The id is the same as if the request were valid.
    @Test(
        arguments: [
            (Mode.binary, #"{"app":1}"#, nil, LaneAPNSHarness.id(7)),
            (.structured, #"{"app":1}"#, nil, LaneAPNSHarness.id(7)),
            (.binary, #"{"app":1}"#, LaneAPNSHarness.id(8), LaneAPNSHarness.id(8)),
            (.structured, nil, LaneAPNSHarness.id(8), LaneAPNSHarness.id(8)),
            (.structured, nil, nil, LaneAPNSHarness.id(7)),
        ] as [(Mode, String?, String?, String)])
    func anInvalidRequestKeepsItsID(_ mode: Mode, request: String?, messageID: String?, id: String) throws {
        let fixture = try LaneAPNSHarness()
        publish(fixture, mode, eventID: LaneAPNSHarness.id(7), messageID: messageID, request: .some(request))
        #expect(fixture.harness.run { fixture.harness.deadLetters.count == 1 })
        #expect(fixture.harness.deadLetters.first?.properties.header("push-apns-id")?.stringValue == id)
    }

    /// Headers of another version are ignored, and the body is read as a plain request.
    @Test func headersOfAnotherVersionAreNotRead() throws {
        let fixture = try LaneAPNSHarness()
        publish(fixture, .binary, eventID: LaneAPNSHarness.id(7), version: "0.3")
        #expect(fixture.harness.run { fixture.harness.deadLetters.count == 1 })
        #expect(fixture.pushes.isEmpty)
    }
}
