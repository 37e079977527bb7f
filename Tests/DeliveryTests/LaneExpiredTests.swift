import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Requests that expire at the broker while they wait in their queue, on virtual time.
@Suite struct LaneExpiredTests {
    private let fixture: LaneAPNSHarness
    private var names: TopologyNames { fixture.harness.names }
    private var broker: ScriptedBroker { fixture.harness.broker }

    init() throws { fixture = try LaneAPNSHarness() }

    @Test func aRequestThatExpiresInItsQueueGetsAResult() throws {
        try expire { request(1) }
        #expect(fixture.results == 1 && fixture.harness.deadLetters.isEmpty && fixture.pushes.isEmpty)
        let result = try #require(results.first)
        #expect(result["outcome"]?.string == "expired" && result["id"]?.string == LaneAPNSHarness.id(1))
        #expect(result["app"]?.string == SimulatedApps.bundleID(0) && result["error"] == nil)
        #expect(result["possible_duplicate"]?.bool == true, "the result excludes an earlier push")
        #expect(fixture.harness.run { fixture.harness.counters.acknowledged.value == 1 })
    }

    // An unexpired request with such a body would be invalid.
    @Test func anUnreadableRequestExpires() throws {
        try expire { publish("neither JSON nor named") }
        #expect(results.compactMap { $0["outcome"]?.string } == ["expired"] && fixture.harness.deadLetters.isEmpty)
    }

    @Test func anOversizedRequestExpires() throws {
        try expire { publish(String(repeating: "x", count: 2 << 20)) }
        #expect(results.compactMap { $0["outcome"]?.string } == ["expired"] && fixture.harness.deadLetters.isEmpty)
        #expect(fixture.harness.counters.rejected.value == 0)
    }

    @Test func aDuplicateOfAnAcceptedRequestSharesItsOutcome() throws {
        fixture.request(1, from: 1)
        try #require(fixture.harness.run { fixture.results == 1 })
        try expire { request(1) }
        #expect(results.compactMap { $0["outcome"]?.string } == ["accepted", "accepted"])
        #expect(results.compactMap { $0["duplicate"]?.bool } == [true] && fixture.pushes.count == 1)
    }

    // The first delivery moves to a wait queue, and the request keeps its deadline. The later result reports the
    // outcome.
    @Test func aDuplicateOfAWaitingRequestIsAcknowledged() throws {
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        fixture.request(1, from: 1)
        try #require(fixture.harness.run { fixture.harness.counters.inFlight.value == 1 })
        fixture.harness.onLoop { publishExpired(LaneAPNSHarness.message(1, app: 0)) }
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.pass(seconds: 60)
        #expect(results.compactMap { $0["outcome"]?.string } == ["accepted"])
        #expect(fixture.harness.deadLetters.isEmpty && fixture.pushes.count == 2)
        #expect(fixture.harness.counters.duplicates.value == 1 && fixture.harness.counters.inFlight.value == 0)
    }

    // The producer published the request again.
    @Test func aRequestIsPushedAlthoughItsDuplicateHasExpired() throws {
        fixture.harness.onLoop {
            broker.behavior.confirmDelayMilliseconds = 500...500
            publishExpired(LaneAPNSHarness.message(1, app: 0))
        }
        try #require(fixture.harness.run { fixture.harness.counters.inFlight.value == 1 })
        fixture.request(1, from: 1)
        try #require(fixture.harness.run { fixture.results == 2 })
        #expect(Set(results.compactMap { $0["outcome"]?.string }) == ["accepted", "expired"])
        #expect(fixture.pushes.count == 1)
    }

    // A request that waited has `x-first-death-reason: expired`, from its wait queue.
    @Test(arguments: [
        ("maxlen", "push.requests"), ("rejected", "push.requests"), ("expired", "push.channels"),
    ])
    func aMessageRemovedForAnotherReasonBecomesADeadLetter(_ reason: String, _ queue: String) throws {
        fixture.harness.onLoop { publishExpired(LaneAPNSHarness.message(1, app: 0), reason: reason, queue: queue) }
        try #require(fixture.harness.run { fixture.harness.deadLetters.count == 1 })
        #expect(fixture.results == 0 && fixture.harness.counters.rejected.value == 1)
        let death = try #require(BrokerDeath(fixture.harness.deadLetters[0].properties.headers ?? FieldTable()))
        #expect(death.reason == reason && death.queue == queue)
        #expect(fixture.harness.run { fixture.harness.counters.inFlight.value == 0 })
    }

    // The queue belongs to workers with another configuration, is a shard that this lane does not consume, or is the
    // quarantine.
    @Test(arguments: ["orders", "push.requests.7", "push.quarantine"]) func aRequestOfAnotherQueueExpires(
        _ queue: String
    ) throws {
        fixture.harness.onLoop { publishExpired(LaneAPNSHarness.message(1, app: 0), queue: queue) }
        try #require(fixture.harness.run { fixture.results == 1 })
        #expect(results.compactMap { $0["outcome"]?.string } == ["expired"] && fixture.harness.deadLetters.isEmpty)
    }

    // The worker does not read the body, which may crash workers.
    @Test func aRepeatedlyDeliveredRequestExpiresUnread() throws {
        fixture.harness.onLoop {
            publishExpired(LaneAPNSHarness.message(1, app: 0), deliveryCount: DeliveryPipeline.deliveriesMax)
        }
        try #require(fixture.harness.run { fixture.results == 1 })
        let result = try #require(results.first)
        #expect(result["outcome"]?.string == "expired" && result["app"] == nil)
        #expect(result["id"]?.string == LaneAPNSHarness.id(1))
        #expect(broker.queue(names.quarantineQueue)?.published == 0 && fixture.harness.deadLetters.isEmpty)
    }

    @Test func expiredRequestsGetTheirResultsWhileAPNsIsUnreachable() throws {
        fixture.network.set(.refused, to: .sandbox)
        fixture.request(1, from: 1)
        try #require(fixture.harness.run { fixture.harness.stops == 1 })
        fixture.harness.onLoop { publishExpired(LaneAPNSHarness.message(2, app: 0)) }
        #expect(fixture.harness.run { fixture.results == 1 })
    }

    // Topologies of earlier versions lack the queue of expired requests.
    @Test func aLaneIsReadyWithoutTheQueue() throws {
        fixture.harness.onLoop { _ = broker.deleteQueue(names.expiredQueue) }
        fixture.harness.pass(seconds: 60)
        fixture.request(1, from: 1)
        #expect(fixture.harness.run { fixture.accepted == 1 })
        #expect(fixture.harness.isReady && fixture.harness.stops == 0)
        #expect(fixture.harness.status()?.queues.last?.isConsumed == false)
        fixture.harness.mendTopology()
        fixture.harness.onLoop { publishExpired(LaneAPNSHarness.message(2, app: 0)) }
        #expect(fixture.harness.run { fixture.results == 2 })
    }

    /// Pauses the lane, calls `publish`, and lets the request expire. Then resumes the lane and waits for a result.
    private func expire(_ publish: () -> Void) throws {
        let before = fixture.results
        try #require(fixture.harness.pause(.everything))
        fixture.harness.pass(seconds: 1)
        fixture.harness.onLoop(publish)
        fixture.harness.pass(seconds: 5)
        #expect(broker.queue(names.expiredQueue)?.ready.count == 1)
        try #require(fixture.harness.pause(.everything, false))
        try #require(fixture.harness.run { fixture.results > before })
    }

    private func request(_ number: Int) { publish(LaneAPNSHarness.message(number, app: 0)) }

    private func publish(_ text: String) {
        _ = broker.publish(
            exchange: names.requestsExchange, routingKey: "-", messageID: LaneAPNSHarness.id(1), expiration: "2000",
            body: Array(text.utf8))
    }

    /// Publishes a message as the broker does when it removes a request from a queue.
    private func publishExpired(
        _ text: String, reason: String = "expired", queue: String = "push.requests", deliveryCount: Int = 0
    ) {
        let death: FieldTable = ["reason": .string(reason), "queue": .string(queue), "exchange": "push.requests"]
        let targets = broker.publish(
            exchange: names.brokerDeadLettersExchange, routingKey: "-", messageID: LaneAPNSHarness.id(1),
            headers: ["x-death": .array([.table(death)]), "x-first-death-reason": "expired"],
            body: Array(text.utf8), deliveryCount: deliveryCount)
        #expect(targets == 1)
    }

    private var results: [JSONValue] {
        let messages = broker.queue(names.resultsQueue)?.ready ?? []
        return messages.compactMap { try? JSONDocument($0.body).root }
    }
}
