import Delivery

/// How often RabbitMQ lets a message of a quorum queue be given back, by the queue's argument and by what its policy and
/// the operator policy come to.
enum DeliveryLimit: Equatable, Sendable {
    case none
    case finite(Int)
    /// A negative argument, which versions before 4.0 take as it is: the first return is one too many.
    case atOnce

    /// From 4.0 on without a word of the queue (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling).
    static let standard = 20

    /// What sets the limit that holds.
    enum Source: Equatable, Sendable {
        /// Its version alone.
        case broker
        case argument
        case policy
    }

    init(_ queue: BrokerPicture.Queue, _ version: BrokerVersion) {
        self =
            switch Self.value(queue, version) {
            case nil: .none
            case let limit? where limit >= 0: .finite(limit)
            case _? where version.limitsDeliveries: .none
            case _?: .atOnce
            }
    }

    private static func value(_ queue: BrokerPicture.Queue, _ version: BrokerVersion) -> Int? {
        switch (queue.argumentLimit, queue.policyLimit) {
        case (let argument?, let policy?):
            // From 4.0 on a limit wins over -1, else the lower wins; before, the lower always does.
            version.limitsDeliveries && (argument < 0 || policy < 0)
                ? max(argument, policy) : min(argument, policy)
        case (let one?, nil), (nil, let one?): one
        case (nil, nil): version.limitsDeliveries ? Self.standard : nil
        }
    }

    /// What has to change for another limit.
    static func source(_ queue: BrokerPicture.Queue, _ version: BrokerVersion) -> Source {
        guard queue.argumentLimit != nil || queue.policyLimit != nil else { return .broker }
        return queue.argumentLimit == value(queue, version) ? .argument : .policy
    }

    /// nil: none.
    var count: Int? {
        switch self {
        case .none: nil
        case .finite(let count): count
        case .atOnce: 0
        }
    }

    /// What the broker does with messages of the queue, and which policies hold there.
    func text(_ queue: BrokerPicture.Queue, _ version: BrokerVersion) -> String {
        switch self {
        case .none: "RabbitMQ \(version) keeps what is given back"
        case .finite(let count):
            "RabbitMQ \(version) takes a message out that was given back \(count) times"
                + Self.cause(queue, version)
        case .atOnce: "x-delivery-limit -1 makes RabbitMQ \(version) drop what is given back"
        }
    }

    private static func cause(_ queue: BrokerPicture.Queue, _ version: BrokerVersion) -> String {
        switch (source(queue, version), queue.policyNames) {
        case (.argument, _): " (argument x-delivery-limit)"
        case (.policy, let names): " (policy \(names))"
        case (.broker, ""): ""
        case (.broker, let names): " (its default: policy \(names) sets no limit)"
        }
    }
}

extension BrokerPicture.Queue {
    fileprivate var argumentLimit: Int? { arguments[Topology.Queue.deliveryLimitName].flatMap { Int($0) } }
    fileprivate var policyLimit: Int? { policy["delivery-limit"].flatMap { Int($0) } }
}

extension BrokerPicture {
    /// The limit of a queue that is there; nil where the version is unknown, or what policies set and the limit depends on
    /// that.
    func deliveryLimit(of queue: String) -> DeliveryLimit? {
        guard let version, let queue = queues[queue] else { return nil }
        let limit = DeliveryLimit(queue, version)
        let isByArgument = DeliveryLimit.source(queue, version) == .argument
        // Without statistics what policies set is never shown, else some seconds after a declaration.
        guard showsStatistics else { return isByArgument && limit != .none ? limit : nil }
        return queue.isPolicySeen || isByArgument || limit == .none ? limit : nil
    }

    /// What has to change so that the broker takes no messages out of the queue.
    func limitRemedy(of name: String, _ topology: Topology, _ advice: TopologyAdvice) -> String {
        guard let version, let queue = queues[name] else { return "" }
        switch DeliveryLimit.source(queue, version) {
        case .argument: return advice.migrate(queue: name)
        case .policy where version.limitsDeliveries:
            return #"set "delivery-limit": -1 in policy \#(queue.policyNames)"#
        case .policy: return "remove delivery-limit from policy \(queue.policyNames)"
        case .broker where isOvershadowed(queue, topology):
            return
                #"set "delivery-limit": -1 in policy \#(queue.policyName), which RabbitMQ applies to the queue instead "#
                + "of \(topology.policies(of: version).map(\.name).joined(separator: ", "))"
        case .broker:
            return
                "\(TopologyAdvice.apply), which sets a policy; without the management API print the command: martlet "
                + "topology print --format rabbitmqctl --broker \(version)"
        }
    }

    /// Whether another policy applies to the queue instead of the topology's: RabbitMQ applies the one of the highest
    /// priority.
    func isOvershadowed(_ queue: Queue, _ topology: Topology) -> Bool {
        guard let version, !queue.policyName.isEmpty else { return false }
        return !topology.policies(of: version).contains { $0.name == queue.policyName }
    }

    /// Queues that are there and whose limit is unknown.
    func queuesOfUnknownLimit(of topology: Topology) -> [String] {
        topology.countedQueues.filter { queues[$0] != nil && deliveryLimit(of: $0) == nil }
    }

    /// How to see limits that the management API does not show.
    func unseenLimitsAdvice(_ advice: TopologyAdvice) -> String {
        "look at them: rabbitmqctl list_queues -p \(Shell.quoted(advice.virtualHost)) name arguments "
            + "effective_policy_definition"
    }

    var unseenLimitsText: String {
        "the management API does not show what policies set"
            + (showsStatistics ? "" : ": its statistics are disabled (management.disable_stats)")
    }

    /// Queues out of which the broker would take messages.
    func limitedQueues(of topology: Topology) -> [String] {
        topology.countedQueues.filter { deliveryLimit(of: $0)?.count != nil }
    }

    /// Queues that are there, or have just been declared, and out of which the broker would take messages unless a policy
    /// is set.
    ///
    /// - Parameter declared: those that have not the argument which turns the limit off.
    func limitedQueues(of topology: Topology, declaredWithLimit declared: [String]) -> [String] {
        topology.countedQueues.filter { name in
            guard let queue = queues[name], queue.isPolicySeen, let limit = deliveryLimit(of: name) else {
                return declared.contains(name)
            }
            return limit.count != nil
        }
    }

    /// Whether limits that show may be those before a policy: it is there as it should be, or cannot be seen. Disabled
    /// statistics show nothing later either.
    func mayShowFormerLimits(of topology: Topology) -> Bool {
        guard let version, version.limitsDeliveries, showsStatistics, !unsettledQueues(of: topology).isEmpty else {
            return false
        }
        return !seesPolicies
            || topology.policies(of: version).allSatisfy { policy in
                policies[policy.name].map { $0 == policy.raised(like: $0).texts } ?? false
            }
    }

    /// Queues whose limit is not known, or may be a former one.
    func unsettledQueues(of topology: Topology) -> [String] {
        limitedQueues(of: topology) + queuesOfUnknownLimit(of: topology)
    }
}
