import AMQP
import BrokerTopology
import TestKit
import Testing

@testable import Delivery

/// A lane that consumes from shards of a request queue.
@Suite struct LaneShardingTests {
    @Test(arguments: [
        (1000, 4, [200, 200, 200, 200, 200]), (10, 4, [2, 2, 2, 2, 2]), (7, 4, [1, 2, 2, 1, 1]),
        (5, 4, [1, 1, 1, 1, 1]), (3, 4, [1, 1, 1, 1, 1]), (9, 0, [9]),
    ])
    func thePrefetchIsDividedAmongShards(prefetch: Int, shards: Int, shares: [Int]) {
        let names = (0..<shards).map { "a.\($0)" }
        let queues = RequestQueue(name: "a", prefetch: prefetch).shared(among: names)
        #expect(queues.map(\.prefetch) == shares)
        #expect(queues.map(\.name) == ["a"] + names)
        #expect(queues.map(\.shardOf) == [nil] + names.map { _ in "a" })
    }

    @Test func shardsHaveThePriorityOfTheirQueue() {
        let names = TopologyNames(requestQueues: ["urgent", "bulk"], shards: ["urgent": 2, "bulk": 3])
        let configuration = LaneConfiguration(
            names: names,
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: 100, apps: AppDirectory([]), pools: [], worker: "tested")
        #expect(configuration.priorities == [0, 0, 0, 1, 1, 1, 1, 2])
        #expect(
            configuration.consumers.map(\.queue) == names.requestQueuesAndShards + ["push.quarantine", "push.expired"])
        let most = TopologyNames.shardsMax + 1
        #expect(3 * most + 2 <= BrokerConnection.channelsMax)
    }

    @Test func aRetriedRequestReturnsToItsShard() throws {
        let fixture = try LaneAPNSHarness(requestQueues: ["jobs"], shards: ["jobs": 3])
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.waits == 1 })
        let shards = fixture.harness.names.shards(of: "jobs").compactMap { fixture.harness.queue($0) }
        let first = try #require(shards.first { $0.published == 1 })
        fixture.harness.onLoop { fixture.restore(0) }
        try #require(fixture.harness.run { fixture.results == 1 })
        #expect(first.published == 2)
        #expect(shards.map(\.published).reduce(0, +) == 2 && fixture.harness.queue("jobs")?.published == 0)
    }

    /// Requests published directly to the queue, or queued before it was divided, are consumed.
    @Test func aLaneAlsoConsumesFromTheDividedQueue() throws {
        let fixture = try LaneAPNSHarness(requestQueues: ["jobs"], shards: ["jobs": 2])
        fixture.harness.onLoop {
            _ = fixture.harness.broker.publish(
                routingKey: "jobs", messageID: LaneAPNSHarness.id(7),
                body: Array(LaneAPNSHarness.message(7, app: 0).utf8))
        }
        fixture.request(20, from: 100)
        #expect(fixture.harness.run { fixture.results == 21 })
        let shards = fixture.harness.names.shards(of: "jobs").compactMap { fixture.harness.queue($0)?.published }
        #expect(shards.allSatisfy { $0 > 0 } && shards.reduce(0, +) == 20)
        #expect(fixture.harness.queue("jobs")?.published == 1)
    }
}
