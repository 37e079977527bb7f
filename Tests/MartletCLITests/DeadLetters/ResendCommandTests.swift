import AMQP
import CommandKit
import Delivery
import Glibc
import JSON
import TestKit
import Testing

@testable import MartletCLI

/// The commands `martlet waits` and `martlet unrouted`, run as processes against a real broker.
@Suite(.timeLimit(.minutes(10))) struct ResendCommandTests {
    private func waiting(
        _ broker: DeadLetterQueue, _ number: Int, code: String, in queue: String = "wait.1h.1",
        to target: String = "requests"
    ) -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: "\(broker.prefix).\(queue)", routingKey: "\(broker.prefix).\(target)",
            body: DeadLetterQueue.body(number), messageID: DeadLetterQueue.id(number),
            headers: [
                "push-attempt": 2, "push-retry-rounds": 1, "push-wait-id": .integer(Int64(number) + 1),
                "push-priority": 4, "push-reason-code": .string(code),
                "push-failed-at": .integer(DeadLetterQueue.failedAt),
                "push-origin-queue": .string("\(broker.prefix).\(target)"), "tenant": "blue",
            ])
        message.correlationID = "c-\(number)"
        message.expirationMilliseconds = 3_000_000
        return message
    }

    @Test func waitingRequestsAreCountedByCauseAndReturned() async throws {
        let broker = try await DeadLetterQueue("waits", deliveryLimit: nil)
        let shutdown = (0..<6).map { waiting(broker, $0, code: "Shutdown") }
        let expired = (6..<10).map {
            waiting(broker, $0, code: "ExpiredProviderToken", in: $0 < 8 ? "wait.1h.1" : "wait.15m.2")
        }
        let foreign = waiting(broker, 10, code: "Shutdown", to: "elsewhere")
        try await broker.publish(shutdown + expired + [foreign])

        let list = try await broker.martlet("waits", "list", "--json")
        #expect(list.exit.status == .exited(0) && list.errors == [], "\(list.errors)")
        let groups = try list.output.map { try JSONDocument($0).root }
        #expect(groups.compactMap { $0["count"]?.int } == [6, 4, 1])
        #expect(groups.compactMap { $0["code"]?.string } == ["Shutdown", "ExpiredProviderToken", "Shutdown"])
        #expect(groups[0]["queue"]?.string == "waits.requests")
        let table = try await broker.martlet("waits", "list", "--by", "code")
        #expect(table.output.last == "11 requests in waits.wait.*")

        let unsaid = try await broker.martlet("waits", "bring-back")
        #expect(unsaid.exit.status == .exited(2))
        #expect(
            unsaid.errors == [
                "martlet: bring-back without an ID, --where or --limit sends every request; to do so, run: martlet waits "
                    + "bring-back --url URL --prefix waits --all"
            ])
        let filter = #"code == "ExpiredProviderToken""#
        let dry = try await broker.martlet("waits", "bring-back", "--where", filter, "--dry-run")
        #expect(dry.output.last == "would be brought back 4; messages read: 11")
        #expect(try await broker.count(in: "requests") == 0)
        // The command reads the queue with the shortest delay first. That queue is empty afterward.
        let one = try await broker.martlet("waits", "bring-back", "--where", filter, "--limit", "3", "--json")
        #expect(one.exit.status == .exited(0), "\(one.errors)")
        #expect(try JSONDocument(#require(one.output.last)).root["brought_back"]?.int == 3)
        #expect(
            try await broker.martlet("waits", "bring-back", "--where", filter).output == [
                "brought back 1; messages read: 8"
            ]
        )
        let taken = try await broker.consume(4, from: "requests")
        DeadLetterQueue.expect(taken.sorted { $0.id < $1.id }, are: expired)
        #expect(taken.allSatisfy { $0.properties.expiration == nil })

        // A request for a queue outside the topology stays in the wait queue.
        let rest = try await broker.martlet("waits", "bring-back", "--all")
        #expect(rest.exit.status == .exited(1))
        #expect(rest.output == ["brought back 6, not published 1, kept in the queue; messages read: 7"])
        #expect(
            rest.errors.first?.contains("'waits.elsewhere' is not a request queue of this topology") == true
        )
        DeadLetterQueue.expect(try await broker.consume(6, from: "requests"), are: shutdown)
        #expect(try await broker.consume(1, from: "wait.1h.1").count == 1)
    }

    // A request that the command has received but not acknowledged cannot return when its delay ends.
    @Test func aPacedBringBackHoldsFewRequests() async throws {
        let broker = try await DeadLetterQueue("paced", deliveryLimit: nil)
        try await broker.publish((0..<300).map { waiting(broker, $0, code: "Shutdown") })
        let command = try await ChildProcess(
            [Products.executable("martlet"), "waits", "bring-back", "--all", "--rate", "1/s", "--json"]
                + ["--url", broker.url, "--prefix", broker.prefix])
        let line = try await command.output.line { $0.contains("brought_back") }
        #expect(try JSONDocument(line).root["event"]?.string == "brought_back")
        // If all 300 requests were unacknowledged, no request would be ready.
        #expect(try await broker.count(in: "wait.1h.1") > 200)
        command.send(signal: SIGINT)
        #expect(try await command.exit().status == .exited(130))
        let back = try await broker.count(in: "requests")
        #expect(try await broker.count(in: "wait.1h.1") == 300 - back)
    }

    private func result(_ broker: DeadLetterQueue, _ number: Int, _ outcome: String = "accepted") -> OutgoingMessage {
        OutgoingMessage(
            exchange: "\(broker.prefix).results", routingKey: "result.\(outcome).com_example_app",
            body: Array(
                #"{"id":"\#(DeadLetterQueue.id(number))","app":"com.example.app","outcome":"\#(outcome)"}"#.utf8),
            messageID: DeadLetterQueue.id(number), type: "push.result.v1", headers: ["traceparent": "00-1-2-01"])
    }

    @Test func unroutedResultsAreReplayedOnceAQueueIsBound() async throws {
        let broker = try await DeadLetterQueue("unrouted", deliveryLimit: nil)
        try await BrokerClients.withAdmin(broker.url) { _ = try await $0.deleteQueue("unrouted.results") }
        let accepted = (0..<5).map { result(broker, $0) }
        let rejected = (5..<8).map { result(broker, $0, "rejected") }
        try await broker.publish(accepted + rejected)

        let list = try await broker.martlet("unrouted", "list")
        #expect(list.output.first?.hasPrefix("COUNT  SHARE  OUTCOME   APP") == true, "\(list.output) \(list.errors)")
        #expect(list.output.last == "8 results in unrouted.unrouted")

        // Without a bound queue, results are neither lost nor routed in a loop.
        let vain = try await broker.martlet("unrouted", "replay", "--all")
        #expect(vain.exit.status == .exited(1))
        #expect(vain.output == ["replayed 0, no bound queue 8, kept in the queue; messages read: 8"], "\(vain.errors)")
        #expect(try await broker.count(in: "unrouted") == 8)

        // A consumer binds a queue for accepted results.
        try await BrokerClients.withAdmin(broker.url) { admin in
            try await admin.declareQueue("unrouted.mine", arguments: ["x-queue-type": "quorum"])
            try await admin.bindQueue("unrouted.mine", toExchange: "unrouted.results", routingKey: "result.accepted.#")
        }
        let some = try await broker.martlet("unrouted", "replay", "--all", "--json")
        #expect(some.exit.status == .exited(1))
        let summary = try JSONDocument(#require(some.output.last)).root
        #expect(summary["replayed"]?.int == 5 && summary["unroutable"]?.int == 3, "\(some.output)")
        let taken = try await broker.consume(5, from: "mine")
        DeadLetterQueue.expect(taken.sorted { $0.id < $1.id }, are: accepted)
        #expect(taken.allSatisfy { $0.exchange == "unrouted.results" && $0.routingKey == accepted[0].routingKey })

        let applied = try await broker.martlet("topology", "apply")
        #expect(applied.exit.status == .exited(0), "\(applied.errors)")
        let dry = try await broker.martlet("unrouted", "replay", "--dry-run")
        #expect(dry.output.last == "would be replayed 3; messages read: 3")
        let rest = try await broker.martlet("unrouted", "replay", "--yes")
        #expect(rest.exit.status == .exited(0) && rest.output == ["replayed 3; messages read: 3"], "\(rest.errors)")
        DeadLetterQueue.expect(try await broker.consume(3, from: "results").sorted { $0.id < $1.id }, are: rejected)
        #expect(try await broker.count(in: "unrouted") == 0)
    }

    /// If RabbitMQ would discard a result at its next return, the command publishes the result again with its routing
    /// key.
    @Test func aWornResultKeepsItsRoutingKey() async throws {
        let broker = try await DeadLetterQueue("wornresult", deliveryLimit: nil)
        try await BrokerClients.withAdmin(broker.url) { _ = try await $0.deleteQueue("wornresult.results") }
        let shared = try await PrivateBroker.shared
        try await shared.rabbitmqctl(
            "set_policy", "--apply-to", "queues", "limit-wornresult", "^wornresult\\.unrouted$",
            #"{"delivery-limit":20}"#)
        try await broker.publish([result(broker, 0)])
        for _ in 0..<19 {
            try await BrokerClients.consume(1, from: "wornresult.unrouted", at: broker.url, requeues: true)
        }
        _ = try await broker.martlet("unrouted", "list")
        #expect(try await broker.count(in: "unrouted") == 1)
        #expect(try await broker.martlet("topology", "apply").exit.status == .exited(0))
        let replay = try await broker.martlet("unrouted", "replay", "--all")
        #expect(replay.output == ["replayed 1; messages read: 1"], "\(replay.errors)")
        let taken = try await broker.consume(1, from: "results")
        DeadLetterQueue.expect(taken, are: [result(broker, 0)])
        #expect(taken[0].routingKey == result(broker, 0).routingKey)
    }

    @Test(arguments: [
        (["waits"], "'waits' requires one of: list, bring-back"),
        (["unrouted", "reply"], "unknown command 'unrouted reply'; did you mean 'unrouted replay'?"),
        (["waits", "bring-back", "--all", "a"], "option --all and an ID are mutually exclusive"),
        (["waits", "list", "--by", "cause"], "option --by: expected one or more of class, code, app"),
    ])
    func mistakes(_ words: [String], _ message: String) throws {
        let error = try #require(throws: UsageError.self) { _ = try Program.martlet.request(words) }
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }
}

extension IncomingMessage {
    fileprivate var id: String { properties.messageID ?? "" }
}
