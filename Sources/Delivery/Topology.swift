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

/// What everything at the broker is called: one prefix, then a word for what it holds.
public struct TopologyNames: Sendable, Hashable {
    /// First part of every name.
    public let prefix: String

    /// Producers publish here with any routing key (or straight to `requestsQueue` through the default exchange).
    public let requestsExchange: String
    /// Workers consume from here.
    public let requestsQueue: String
    /// Direct: the routing key is the bucket's (``RetryBucket/routingKey``).
    public let retryExchange: String
    /// Topic: `result.<outcome>.<app>`. What no queue takes goes to `unroutedExchange`.
    public let resultsExchange: String
    /// The results of whoever binds no queue of their own.
    public let resultsQueue: String
    /// Topic: `dead.<class>.<code>.<app>`.
    public let deadExchange: String
    /// What operators work through.
    public let deadQueue: String
    /// Fanout: where the broker itself puts what a queue rejects, such as a body that is too large.
    public let brokerDeadLettersExchange: String
    /// Fanout: results that nobody was bound for.
    public let unroutedExchange: String
    public let unroutedQueue: String

    /// - Parameter requestsQueue: default `<prefix>.requests`.
    public init(prefix: String = "push", requestsQueue: String? = nil) {
        self.prefix = prefix
        self.requestsExchange = "\(prefix).requests"
        self.requestsQueue = requestsQueue ?? "\(prefix).requests"
        self.retryExchange = "\(prefix).retry"
        self.resultsExchange = "\(prefix).results"
        self.resultsQueue = "\(prefix).results"
        self.deadExchange = "\(prefix).dead"
        self.deadQueue = "\(prefix).dead"
        self.brokerDeadLettersExchange = "\(prefix).dlx"
        self.unroutedExchange = "\(prefix).unrouted"
        self.unroutedQueue = "\(prefix).unrouted"
    }

    /// Where a message waits for the bucket's delay. The name carries the delay, because a queue's cannot be changed.
    public func retryQueue(_ bucket: RetryBucket) -> String { "\(retryExchange).\(bucket.routingKey)" }
}

/// One delay after which a message is tried again: a queue of its own, so that long waits never block short ones.
public struct RetryBucket: Sendable, Hashable {
    /// At least 1.
    public let delaySeconds: Int

    /// `30s`, `2m`, `1h`: the delay in the largest unit that divides it.
    public let routingKey: String

    public static let `default` = RetryBucket(delaySeconds: 30)

    public init(delaySeconds: Int) {
        self.delaySeconds = max(1, min(delaySeconds, Self.delaySecondsMax))
        routingKey =
            switch self.delaySeconds {
            case let seconds where seconds % 3600 == 0: "\(seconds / 3600)h"
            case let seconds where seconds % 60 == 0: "\(seconds / 60)m"
            case let seconds: "\(seconds)s"
            }
    }

    public var delayMilliseconds: Int64 { Int64(delaySeconds) * 1000 }

    /// A day: what waits longer than that is not a retry.
    public static let delaySecondsMax = 86_400
}
