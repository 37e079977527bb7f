/// The kinds of objects in a topology.
extension Topology {
    public struct Exchange: Sendable, Hashable {
        public enum Kind: String, Sendable {
            case direct, topic, fanout, headers
            /// An exchange that distributes messages over its bindings. The type needs a RabbitMQ plugin.
            case consistentHash = "x-consistent-hash"
        }
        public let name: String
        public let kind: Kind
        public let arguments: [Argument]
    }

    /// A durable queue: a quorum queue or a stream.
    public struct Queue: Sendable, Hashable {
        public let name: String
        public let arguments: [Argument]

        /// Whether readers leave the messages in the queue. RabbitMQ applies no delivery limit to a stream, and AMQP
        /// shows no depth.
        public var isStream: Bool { arguments.starts(with: Topology.stream) }
    }

    /// A binding from an exchange to a queue or to another exchange.
    public struct Binding: Sendable, Hashable {
        public enum DestinationKind: String, Sendable { case queue, exchange }
        public let destination: String
        public let kind: DestinationKind
        public let exchange: String
        public let routingKey: String
        /// The arguments that a headers exchange matches, sorted by name.
        public let arguments: [Argument]

        public init(queue: String, exchange: String, routingKey: String, arguments: [Argument] = []) {
            self.init(
                destination: queue, kind: .queue, exchange: exchange, routingKey: routingKey, arguments: arguments)
        }

        public init(
            destination: String, kind: DestinationKind, exchange: String, routingKey: String, arguments: [Argument] = []
        ) {
            self.destination = destination
            self.kind = kind
            self.exchange = exchange
            self.routingKey = routingKey
            self.arguments = arguments.sorted { $0.name < $1.name }
        }

        /// The destination if it is a queue; otherwise nil.
        public var queue: String? { kind == .queue ? destination : nil }
    }

    /// An argument of a declaration, such as `x-queue-type`.
    public struct Argument: Sendable, Hashable {
        public enum Value: Sendable, Hashable {
            case text(String)
            case integer(Int64)
            case boolean(Bool)
        }
        public let name: String
        public let value: Value

        public static func text(_ name: String, _ value: String) -> Argument {
            Argument(name: name, value: .text(value))
        }
        static func integer(_ name: String, _ value: Int64) -> Argument { Argument(name: name, value: .integer(value)) }
        static func boolean(_ name: String, _ value: Bool) -> Argument { Argument(name: name, value: .boolean(value)) }
    }
}

/// Arguments of queues.
extension Topology {
    static let quorum: [Argument] = [.text("x-queue-type", "quorum")]
    static let stream: [Argument] = [.text("x-queue-type", "stream")]

    /// Returns the arguments that bound a queue by age and length. By default, a full quorum queue drops its oldest
    /// messages.
    static func bounds(_ results: ResultsRetention) -> [Argument] {
        [
            .integer("x-message-ttl", Int64(results.ageSecondsMax) * 1000),
            .integer("x-max-length", Int64(results.lengthMax)),
        ]
    }

    /// Returns the arguments for dead-lettering at least once. RabbitMQ transfers a dead letter with confirms only if
    /// all three arguments are set. With another overflow behavior, RabbitMQ silently loses the dead letter while the
    /// target is unavailable (https://www.rabbitmq.com/docs/quorum-queues#dead-lettering).
    static func deadLettersTo(exchange: String) -> [Argument] {
        [
            .text("x-dead-letter-exchange", exchange), .text("x-dead-letter-strategy", "at-least-once"),
            .text("x-overflow", "reject-publish"),
        ]
    }

    /// The argument that distributes the leaders of shards over the nodes. Without the argument, the node of the
    /// declaring connection would have all leaders.
    static let spread: [Argument] = [.text("x-queue-leader-locator", "balanced")]
}
