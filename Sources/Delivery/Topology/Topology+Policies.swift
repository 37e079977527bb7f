/// Delivery limits, in which versions of RabbitMQ differ: an argument of new queues, and a policy for existing ones
/// (decision 39).
extension Topology {
    /// RabbitMQ applies one policy to a queue, that of the highest priority whose pattern matches.
    public struct Policy: Sendable, Hashable {
        public let name: String
        /// A regular expression over names of queues.
        public let pattern: String
        public var priority: Int
        public let definition: [Argument]
    }

    /// The queues as a new one is declared at a broker.
    ///
    /// From 4.0 on the argument `x-delivery-limit: -1` turns off the broker's limit. Earlier versions have no limit, and
    /// discard a message at its first return with this argument.
    ///
    /// - Parameter version: nil if unknown.
    public func queues(at version: BrokerVersion?) -> [Queue] {
        guard let version, version.limitsDeliveries else { return queues }
        let unlimited = Set(countedQueues)
        return queues.map { queue in
            guard unlimited.contains(queue.name) else { return queue }
            return Queue(name: queue.name, arguments: queue.arguments + [Queue.noDeliveryLimit])
        }
    }

    /// The policy for queues that exist without the argument, which cannot be changed.
    ///
    /// Workers count deliveries themselves and move a request that no worker survives to the quarantine. Commands return
    /// the dead letters that they read. A limit of the broker would dead-letter the request without a result and drop the
    /// dead letter. Versions before 4.0 have no limit and refuse a policy with the value -1.
    public func policies(of version: BrokerVersion) -> [Policy] {
        guard version.limitsDeliveries else { return [] }
        return [
            Policy(
                name: "\(names.prefix)-deliveries",
                pattern: Self.anyOf(countedPatterns), priority: 1,
                definition: [.integer("delivery-limit", -1)])
        ]
    }

    /// Queues out of which a limit of deliveries would take messages unseen.
    public var countedQueues: [String] { names.takenQueues + countedBesides }

    private var countedPatterns: [String] {
        names.requestQueues.map { names.pattern(of: $0) } + countedBesides.map(Self.escaped)
    }

    private var countedBesides: [String] {
        [names.quarantineQueue, names.expiredQueue, names.deadQueue]
            + (takesChannelCommands ? [names.channelsQueue] : [])
    }

    /// A regular expression that matches what one of these does, whole.
    public static func anyOf(_ patterns: [String]) -> String { "^(\(patterns.joined(separator: "|")))$" }

    /// A regular expression that matches the name alone.
    public static func escaped(_ name: String) -> String {
        name.reduce(into: "") { $0 += #".\+*?()[]{}|^$"#.contains($1) ? "\\\($1)" : String($1) }
    }
}

extension Topology.Queue {
    /// The argument by which RabbitMQ limits deliveries; a policy has it without `x-`.
    public static let deliveryLimitName = "x-delivery-limit"

    static let noDeliveryLimit = Topology.Argument.integer(deliveryLimitName, -1)

    /// Whether its argument turns off the broker's limit.
    public var hasNoDeliveryLimit: Bool { arguments.contains(Self.noDeliveryLimit) }

    /// The queue as it was declared before it had the argument.
    public var withBrokersDeliveryLimit: Self {
        Self(name: name, arguments: arguments.filter { $0 != Self.noDeliveryLimit })
    }
}
