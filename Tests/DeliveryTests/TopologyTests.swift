import Delivery
import Testing

@Suite struct TopologyTests {
    let topology = Topology()

    @Test func namesAreThePrefixAndWhatTheyHold() {
        #expect(
            topology.exchanges.map { "\($0.name) \($0.kind)" } == [
                "push.unrouted fanout", "push.requests topic", "push.retry direct", "push.results topic",
                "push.dead topic", "push.dlx fanout",
            ])
        #expect(
            topology.queues.map(\.name) == [
                "push.requests", "push.results", "push.dead", "push.unrouted", "push.retry.30s",
            ])
        let other = Topology(names: TopologyNames(prefix: "shop.push", requestsQueue: "orders"))
        #expect(other.exchanges.allSatisfy { $0.name.hasPrefix("shop.push.") })
        #expect(other.queues.map(\.name).first == "orders")
        #expect(other.bindings.first?.exchange == "shop.push.requests")
    }

    @Test func everyQueueIsAQuorumQueueAndIsBound() {
        for queue in topology.queues {
            #expect(queue.arguments.contains { $0.name == "x-queue-type" && $0.value == .text("quorum") })
            #expect(topology.bindings.contains { $0.queue == queue.name })
        }
        for binding in topology.bindings {
            #expect(topology.exchanges.contains { $0.name == binding.exchange })
        }
    }

    @Test func whatWaitsForARetryComesBackToTheRequests() throws {
        let names = TopologyNames(prefix: "push", requestsQueue: "orders")
        let topology = Topology(names: names, retryBuckets: [.default, RetryBucket(delaySeconds: 7200)])
        let waiting = try #require(topology.queues.first { $0.name == "push.retry.2h" })
        #expect(
            waiting.arguments.map { "\($0.name)=\($0.value)" } == [
                #"x-queue-type=text("quorum")"#, "x-message-ttl=integer(7200000)",
                #"x-dead-letter-exchange=text("")"#, #"x-dead-letter-routing-key=text("orders")"#,
                #"x-dead-letter-strategy=text("at-least-once")"#, #"x-overflow=text("reject-publish")"#,
            ])
        #expect(topology.bindings.contains { $0.queue == "push.retry.2h" && $0.routingKey == "2h" })
    }

    @Test func everyExchangeLeadsToAQueueSoThatNothingPublishedIsLost() {
        for exchange in topology.exchanges {
            #expect(topology.bindings.contains { $0.exchange == exchange.name }, "\(exchange.name)")
        }
    }

    @Test(arguments: [(1, "1s"), (30, "30s"), (60, "1m"), (90, "90s"), (600, "10m"), (3600, "1h"), (0, "1s")])
    func aBucketIsNamedAfterItsDelay(seconds: Int, name: String) {
        #expect(RetryBucket(delaySeconds: seconds).routingKey == name)
    }
}
