import AMQP
import BrokerManagement
import BrokerTopology
import Delivery
import TestKit
import Testing

/// A real broker's behavior with waiting messages.
@Suite(.timeLimit(.minutes(10))) struct WaitQueueTests {
    @Test func requestsReturnFromAWaitQueueToTheirOwnQueues() async throws {
        let broker = try await PrivateBroker.shared
        let delay = WaitDelay(seconds: 1)
        let names = TopologyNames(prefix: "waits", requestQueues: ["waits.urgent", "waits.bulk"])
        let failed = try await BrokerClients.withAdmin(broker.url) { admin in
            var declarer = TopologyDeclarer(Topology(names: names, waits: [delay]), admin: admin) { _ in }
            return try await declarer.declare()
        }
        #expect(failed == 0)
        let queues = names.requestQueues + [names.quarantineQueue]
        let outcomes = try await BrokerClients.publish(
            queues.map { queue in
                OutgoingMessage(
                    exchange: names.waitQueue(delay, sibling: 0), routingKey: queue, body: Array("of \(queue)".utf8),
                    messageID: queue)
            }, to: broker.url)
        #expect(outcomes == [.confirmed, .confirmed, .confirmed])
        for queue in queues {
            let messages = try await BrokerClients.consume(1, from: queue, at: broker.url)
            #expect(messages.map(\.body) == [Array("of \(queue)".utf8)])
            #expect(messages.map(\.routingKey) == [queue] && messages.map(\.exchange) == [""])
        }
        let left = try await BrokerClients.withAdmin(broker.url) { admin in
            var left = 0
            for queue in queues + [names.waitQueue(delay, sibling: 0)] {
                left += try await admin.status(ofQueue: queue).messages
            }
            return left
        }
        #expect(left == 0, "the queues are not empty")
    }

    /// A message returns when its own expiration elapses, before the queue's delay. Earlier messages must not expire
    /// later. The limits of apps rely on this behavior.
    @Test func anExpirationReturnsAMessageBeforeTheQueuesDelay() async throws {
        let broker = try await PrivateBroker.shared
        let delay = WaitDelay(seconds: 3600)
        let names = TopologyNames(prefix: "expirations")
        let failed = try await BrokerClients.withAdmin(broker.url) { admin in
            var declarer = TopologyDeclarer(Topology(names: names, waits: [delay]), admin: admin) { _ in }
            return try await declarer.declare()
        }
        #expect(failed == 0)
        let clock = ContinuousClock()
        let start = clock.now
        let outcomes = try await BrokerClients.publish(
            [300, 600, 1200].map { (milliseconds: Int64) in
                var message = OutgoingMessage(
                    exchange: names.waitQueue(delay, sibling: 0), routingKey: names.requestQueues[0],
                    body: Array("\(milliseconds)".utf8), messageID: "\(milliseconds)")
                message.expirationMilliseconds = milliseconds
                return message
            }, to: broker.url)
        #expect(outcomes == [.confirmed, .confirmed, .confirmed])
        let messages = try await BrokerClients.consume(3, from: names.requestQueues[0], at: broker.url)
        #expect(clock.now - start >= .milliseconds(1200))
        #expect(messages.map(\.body) == ["300", "600", "1200"].map { Array($0.utf8) })
        #expect(messages.allSatisfy { $0.properties.expiration == nil }, "the messages would also expire there")
    }
}
