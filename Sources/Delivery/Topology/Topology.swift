/// The exchanges, queues and bindings at the broker that producers, workers and consumers of results share.
///
/// A description only: it connects to nothing. `martlet topology apply` declares it, the lane publishes to its names.
/// Only what is structural stands in arguments (queue type, time to live, where dead letters go), because arguments
/// cannot be changed without deleting the queue; lengths, limits and expiry belong into the broker's policies.
public struct Topology: Sendable, Equatable {
    public let names: TopologyNames
    public let retryBuckets: [RetryBucket]
    public let exchanges: [Exchange]
    public let queues: [Queue]
    public let bindings: [Binding]

    public struct Exchange: Sendable, Hashable {
        public enum Kind: String, Sendable { case direct, topic, fanout }
        public let name: String
        public let kind: Kind
        public let arguments: [Argument]
    }

    /// Every queue is durable and a quorum queue, on one node as well as on many.
    public struct Queue: Sendable, Hashable {
        public let name: String
        public let arguments: [Argument]
    }

    public struct Binding: Sendable, Hashable {
        public let queue: String
        public let exchange: String
        public let routingKey: String
    }

    /// An `x-…` argument of a declaration, in the order in which it is sent.
    public struct Argument: Sendable, Hashable {
        public enum Value: Sendable, Hashable {
            case text(String)
            case integer(Int64)
        }
        public let name: String
        public let value: Value

        static func text(_ name: String, _ value: String) -> Argument { Argument(name: name, value: .text(value)) }
        static func integer(_ name: String, _ value: Int64) -> Argument { Argument(name: name, value: .integer(value)) }
    }

    public init(names: TopologyNames = TopologyNames(), retryBuckets: [RetryBucket] = [.default]) {
        self.names = names
        self.retryBuckets = retryBuckets
        exchanges = [
            Exchange(name: names.unroutedExchange, kind: .fanout, arguments: []),
            Exchange(name: names.requestsExchange, kind: .topic, arguments: []),
            Exchange(name: names.retryExchange, kind: .direct, arguments: []),
            // A result that no queue is bound for must not hold up the acknowledgement of its request.
            Exchange(
                name: names.resultsExchange, kind: .topic,
                arguments: [.text("alternate-exchange", names.unroutedExchange)]),
            Exchange(name: names.deadExchange, kind: .topic, arguments: []),
            Exchange(name: names.brokerDeadLettersExchange, kind: .fanout, arguments: []),
        ]
        queues =
            [
                Queue(
                    name: names.requestsQueue,
                    arguments: Self.quorum + Self.deadLettersTo(exchange: names.brokerDeadLettersExchange)),
                Queue(name: names.resultsQueue, arguments: Self.quorum),
                Queue(name: names.deadQueue, arguments: Self.quorum),
                Queue(name: names.unroutedQueue, arguments: Self.quorum),
            ]
            + retryBuckets.map { bucket in
                // Waits here for the bucket's delay, then goes back to the requests as a dead letter of this queue.
                Queue(
                    name: names.retryQueue(bucket),
                    arguments: Self.quorum + [.integer("x-message-ttl", bucket.delayMilliseconds)]
                        + Self.deadLettersTo(exchange: "", routingKey: names.requestsQueue))
            }
        bindings =
            [
                Binding(queue: names.requestsQueue, exchange: names.requestsExchange, routingKey: "#"),
                Binding(queue: names.resultsQueue, exchange: names.resultsExchange, routingKey: "result.#"),
                Binding(queue: names.deadQueue, exchange: names.deadExchange, routingKey: "dead.#"),
                Binding(queue: names.deadQueue, exchange: names.brokerDeadLettersExchange, routingKey: ""),
                Binding(queue: names.unroutedQueue, exchange: names.unroutedExchange, routingKey: ""),
            ]
            + retryBuckets.map { bucket in
                Binding(
                    queue: names.retryQueue(bucket), exchange: names.retryExchange, routingKey: bucket.routingKey)
            }
    }

    private static let quorum: [Argument] = [.text("x-queue-type", "quorum")]

    /// RabbitMQ hands a dead letter on with confirmation only when all three are set; with another overflow it silently
    /// falls back to losing it when the target is away (https://www.rabbitmq.com/docs/quorum-queues#dead-lettering).
    private static func deadLettersTo(exchange: String, routingKey: String? = nil) -> [Argument] {
        [.text("x-dead-letter-exchange", exchange)]
            + (routingKey.map { [.text("x-dead-letter-routing-key", $0)] } ?? [])
            + [.text("x-dead-letter-strategy", "at-least-once"), .text("x-overflow", "reject-publish")]
    }
}
