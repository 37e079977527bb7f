import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import JSONSchema
import TestKit
import Testing

@testable import Delivery

/// The origin and the history in the results of a lane, on virtual time.
@Suite struct LaneHistoryTests {
    private static func results(_ fixture: LaneAPNSHarness) throws -> [JSONValue] {
        let queue = fixture.harness.broker.queue(fixture.harness.names.resultsQueue)
        let schema = try CompiledSchema(
            JSONDocument(try Files.bytes(of: Products.file("schemas/result.schema.json"))))
        return try (queue?.ready ?? []).map { message in
            let document = try JSONDocument(message.body)
            #expect(SchemaValidator(schema).violations(in: document.root).map(\.description) == [])
            return document.root
        }
    }

    private static func publish(_ fixture: LaneAPNSHarness, _ headers: FieldTable = FieldTable(), userID: String? = nil)
    {
        let harness = fixture.harness
        harness.onLoop {
            _ = harness.broker.publish(
                exchange: harness.names.requestsExchange, routingKey: "-", messageID: "x", headers: headers,
                timestampSeconds: 1_700_000_000, userID: userID,
                body: Array(LaneAPNSHarness.message(0, app: 0).utf8))
        }
    }

    @Test func `A result names the queue, the worker, the push type and the time of publishing`() throws {
        let fixture = try LaneAPNSHarness()
        Self.publish(fixture)
        fixture.harness.request("no JSON")
        try #require(fixture.harness.run { fixture.results == 2 })
        let results = try Self.results(fixture)
        let pushed = try #require(results.first { $0["outcome"]?.string == "accepted" })
        #expect(pushed["queue"]?.string == "push.requests" && pushed["worker"]?.string == "tested")
        #expect(pushed["push_type"]?.string == "alert" && pushed["published_at"]?.int64 == 1_700_000_000_000)
        #expect(pushed["history"] == nil)
        let invalid = try #require(results.first { $0["outcome"]?.string == "invalid" })
        #expect(invalid["queue"]?.string == "push.requests" && invalid["worker"]?.string == "tested")
        #expect(invalid["push_type"] == nil && invalid["published_at"] == nil)
    }

    @Test(arguments: [0, 1_700_000_000_000, .max] as [UInt64])
    func `A timestamp that is not in seconds is omitted`(_ seconds: UInt64) throws {
        let fixture = try LaneAPNSHarness()
        let harness = fixture.harness
        harness.onLoop {
            _ = harness.broker.publish(
                exchange: harness.names.requestsExchange, routingKey: "-", messageID: "x", timestampSeconds: seconds,
                body: Array(LaneAPNSHarness.message(0, app: 0).utf8))
        }
        try #require(fixture.harness.run { fixture.results == 1 })
        #expect(try Self.results(fixture).first?["published_at"] == nil)
    }

    @Test func `A retried and held request has its history`() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 2))
        }
        let start = fixture.harness.loop.now.unixMilliseconds
        Self.publish(fixture)
        try #require(fixture.harness.run { fixture.waits == 2 })
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0))))
        try #require(fixture.harness.run { fixture.waits == 4 })
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0)), false))
        try #require(fixture.harness.run { fixture.results == 1 })
        let result = try #require(try Self.results(fixture).first)
        #expect(result["outcome"]?.string == "accepted" && result["attempts"]?.int == 3)
        #expect(result["published_at"]?.int64 == 1_700_000_000_000)
        let history = try #require(result["history"]).elements.map { $0 }
        #expect(history.map { $0["event"]?.string } == ["attempt", "hold"])
        #expect(history.map { $0["code"]?.string } == ["TooManyRequests", "paused"])
        #expect(history.map { $0["rounds"]?.int } == [2, 2])
        let times = history.flatMap { [$0["at"]?.int64, $0["until"]?.int64] }.compactMap(\.self)
        #expect(times.count == 4 && times == times.sorted() && times[0] >= start)
        #expect(times[3] <= fixture.harness.loop.now.unixMilliseconds)
    }

    private static let forged: FieldTable = [
        "push-retry-rounds": 1, "push-history": "a,forged,1,1,1",
    ]

    // A producer may write any header. RabbitMQ verifies only the user ID.
    @Test(arguments: [nil, "guest"]) func `The history of a producer is not trusted`(_ userID: String?) throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        Self.publish(fixture, Self.forged, userID: userID)
        try #require(fixture.harness.run { fixture.results == 1 })
        let history = try #require(try Self.results(fixture).first?["history"]).elements.map { $0["code"]?.string }
        // The lane of the test logs in as guest.
        #expect(history == (userID == nil ? ["TooManyRequests"] : ["forged", "TooManyRequests"]))
    }

    @Test(arguments: [FieldValue.integer(7), .string("nonsense"), .string(String(repeating: "x", count: 5000)), .void])
    func `A malformed history is ignored`(_ value: FieldValue) throws {
        let fixture = try LaneAPNSHarness()
        Self.publish(fixture, ["push-retry-rounds": 1, "push-history": value], userID: "guest")
        try #require(fixture.harness.run { fixture.results == 1 })
        let result = try #require(try Self.results(fixture).first)
        #expect(result["outcome"]?.string == "accepted" && result["history"] == nil)
    }

    @Test func `A quarantined request has its history`() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.request("poison", deliveryCount: DeliveryPipeline.deliveriesMax)
        try #require(harness.run { harness.queue(harness.names.resultsQueue)?.published == 1 })
        let message = try #require(harness.queue(harness.names.resultsQueue)?.ready.first)
        let result = try JSONDocument(message.body).root
        #expect(result["queue"]?.string == "push.quarantine")
        let history = try #require(result["history"]).elements.map { $0 }
        #expect(history.count == 1 && history[0]["event"]?.string == "quarantine")
        #expect(history[0]["code"]?.string == "redelivered" && history[0]["until"] == nil)
        // The dead letter has it, too.
        #expect(harness.deadLetters.first?.properties.header("push-history")?.stringValue?.hasPrefix("q,") == true)
    }
}
