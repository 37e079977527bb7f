/// The number of times that a message of a quorum queue may be requeued. The queue's argument, its policy and its
/// operator policy determine the limit. If none of these sets a limit, the version of RabbitMQ determines it.
public enum DeliveryLimit: Equatable, Sendable {
    case none
    case finite(Int)
    /// A negative limit in a version before 4.0. The first requeue exceeds the limit.
    case atOnce

    /// The default limit from RabbitMQ 4.0 on (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling).
    public static let standard = 20

    /// The setting that determines the effective limit.
    public enum Source: Equatable, Sendable {
        /// The default of the broker's version.
        case broker
        case argument
        case policy
    }

    public init(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) {
        self =
            switch Self.value(queue, version) {
            case nil: .none
            case let limit? where limit >= 0: .finite(limit)
            case _? where version.limitsDeliveries: .none
            case _?: .atOnce
            }
    }

    private static func value(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) -> Int? {
        switch (queue.argumentLimit, queue.policyLimit) {
        case (let argument?, let policy?):
            // From 4.0 on, a finite limit overrides -1. In all other cases, the lower limit applies.
            version.limitsDeliveries && (argument < 0 || policy < 0)
                ? max(argument, policy) : min(argument, policy)
        case (let one?, nil), (nil, let one?): one
        case (nil, nil): version.limitsDeliveries ? Self.standard : nil
        }
    }

    static func source(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) -> Source {
        guard queue.argumentLimit != nil || queue.policyLimit != nil else { return .broker }
        return queue.argumentLimit == value(queue, version) ? .argument : .policy
    }

    /// The number of requeues that the broker permits for a message; nil if unlimited.
    public var count: Int? {
        switch self {
        case .none: nil
        case .finite(let count): count
        case .atOnce: 0
        }
    }

    /// Returns a description of the limit and, for a finite limit, of its setting. Omits the setting for the broker's
    /// default without a policy.
    public func text(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) -> String {
        switch self {
        case .none: "RabbitMQ \(version) keeps requeued messages"
        case .finite(let count):
            "RabbitMQ \(version) removes a message that was requeued \(count) times"
                + Self.cause(queue, version)
        case .atOnce: "a negative delivery limit makes RabbitMQ \(version) drop requeued messages"
        }
    }

    private static func cause(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) -> String {
        switch (source(queue, version), queue.policyNames) {
        case (.argument, _): " (argument x-delivery-limit)"
        case (.policy, let names): " (policy \(names))"
        case (.broker, ""): ""
        case (.broker, let names): " (the default: policy \(names) sets no limit)"
        }
    }
}

extension BrokerSnapshot.Queue {
    fileprivate var argumentLimit: Int? { arguments[Topology.Queue.deliveryLimitName].flatMap { Int($0) } }
    fileprivate var policyLimit: Int? { policy["delivery-limit"].flatMap { Int($0) } }
}
