/// The declarations that turn off RabbitMQ's delivery limits: an argument of new queues, and a policy for existing
/// queues (decision 39).
extension Topology {
    /// A user policy. RabbitMQ applies only one of these to a queue, the matching policy with the highest priority.
    public struct Policy: Sendable, Hashable {
        public let name: String
        /// A regular expression that matches names of queues.
        public let pattern: String
        public var priority: Int
        public let definition: [Argument]
    }

    /// Returns the queues with the arguments of a new declaration at a broker.
    ///
    /// From 4.0 on, the argument `x-delivery-limit: -1` turns off the broker's limit. Earlier versions have no default
    /// limit. With this argument, they discard a message when the message is first requeued.
    ///
    /// - Parameter version: nil if unknown.
    public func queues(at version: BrokerVersion?) -> [Queue] {
        guard let version, version.limitsDeliveries else { return queues }
        let unlimited = Set(unlimitedQueues)
        return queues.map { queue in
            guard unlimited.contains(queue.name) else { return queue }
            return Queue(name: queue.name, arguments: queue.arguments + [Queue.noDeliveryLimit])
        }
    }

    /// Returns the policies that turn off the delivery limit of existing queues, to which the argument cannot be added.
    ///
    /// Workers move a request to the quarantine after repeated failed deliveries, and commands requeue the dead letters
    /// that they read. A limit of the broker would dead-letter the request without a result, and drop the dead letter.
    /// Versions before 4.0 have no default limit and refuse a policy with the value -1.
    public func policies(of version: BrokerVersion) -> [Policy] {
        guard version.limitsDeliveries else { return [] }
        let patterns =
            names.requestQueues.map { names.pattern(of: $0) } + unlimitedFixedQueues.map(Self.escaped)
        return [
            Policy(
                name: "\(names.prefix)-deliveries", pattern: Self.anyOf(patterns), priority: 1,
                definition: [.integer("delivery-limit", -1)])
        ]
    }

    /// Queues whose delivery limit the declarations turn off.
    public var unlimitedQueues: [String] { names.requestQueuesAndShards + unlimitedFixedQueues }

    private var unlimitedFixedQueues: [String] { fixedQueues(of: .requests, .commands, .deadLetters) }

    /// Returns a regular expression that matches a whole name if one of the patterns does.
    public static func anyOf(_ patterns: [String]) -> String { "^(\(patterns.joined(separator: "|")))$" }

    /// Returns a regular expression, without anchors, that matches the name literally.
    public static func escaped(_ name: String) -> String {
        name.reduce(into: "") { $0 += #".\+*?()[]{}|^$"#.contains($1) ? "\\\($1)" : String($1) }
    }
}

extension Topology.Queue {
    /// The name of the argument that limits deliveries. The key in a policy is the same without `x-`.
    public static let deliveryLimitName = "x-delivery-limit"

    static let noDeliveryLimit = Topology.Argument.integer(deliveryLimitName, -1)

    /// Whether an argument turns off the broker's limit.
    public var hasNoDeliveryLimit: Bool { arguments.contains(Self.noDeliveryLimit) }

    /// The queue without the argument that turns off the delivery limit, as earlier versions of Martlet declared it.
    public var withBrokersDeliveryLimit: Self {
        Self(name: name, arguments: arguments.filter { $0 != Self.noDeliveryLimit })
    }
}
