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

    init(_ queue: BrokerPicture.Queue, _ version: BrokerVersion) {
        let argument = queue.arguments["x-delivery-limit"].flatMap { Int($0) }
        let policy = queue.policy["delivery-limit"].flatMap { Int($0) }
        let limit: Int? =
            switch (argument, policy) {
            case (let argument?, let policy?):
                // From 4.0 on a limit wins over -1, else the lower wins; before, the lower always does.
                version.limitsDeliveries && (argument < 0 || policy < 0)
                    ? max(argument, policy) : min(argument, policy)
            case (let one?, nil), (nil, let one?): one
            case (nil, nil): version.limitsDeliveries ? Self.standard : nil
            }
        self =
            switch limit {
            case nil: .none
            case let limit? where limit >= 0: .finite(limit)
            case _? where version.limitsDeliveries: .none
            case _?: .atOnce
            }
    }

    /// nil: none.
    var count: Int? {
        switch self {
        case .none: nil
        case .finite(let count): count
        case .atOnce: 0
        }
    }

    /// What the broker does with messages of the queue.
    ///
    /// - Parameter policyName: empty: none.
    func text(_ version: BrokerVersion, policyName: String) -> String {
        switch self {
        case .none: "RabbitMQ \(version) keeps what is given back"
        case .finite(let count):
            "RabbitMQ \(version) takes a message out that was given back \(count) times"
                + (policyName.isEmpty ? "" : " (policy \(policyName))")
        case .atOnce: "x-delivery-limit -1 makes RabbitMQ \(version) drop what is given back"
        }
    }

    func remedy(_ version: BrokerVersion) -> String {
        version.limitsDeliveries
            ? "\(TopologyAdvice.apply), which sets a policy, or set it by martlet topology print --format rabbitmqctl "
                + "--broker \(version); a policy with a higher priority, and an operator policy, need delivery-limit -1"
            : "take delivery-limit out of the policy, or the argument by declaring the queue anew"
    }
}

extension BrokerPicture {
    /// The limit of a queue that is there; nil where the version is unknown as well.
    func deliveryLimit(of queue: String) -> DeliveryLimit? {
        guard let version, let queue = queues[queue] else { return nil }
        return DeliveryLimit(queue, version)
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

    /// Whether limits that show may be those before a policy: it is there as it should be, or cannot be seen.
    func mayShowFormerLimits(of topology: Topology) -> Bool {
        guard let version, version.limitsDeliveries, !limitedQueues(of: topology).isEmpty else { return false }
        return !seesPolicies
            || topology.policies(of: version).allSatisfy { policy in
                policies[policy.name].map { $0 == policy.raised(like: $0).texts } ?? false
            }
    }
}
