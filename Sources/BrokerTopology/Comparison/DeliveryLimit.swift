/// How often a message of a quorum queue may be returned, by the queue's argument and by what its policy and the operator policy
/// together set.
public enum DeliveryLimit: Equatable, Sendable {
    case none
    case finite(Int)
    /// A negative argument before 4.0, which exceeds its limit at the first return.
    case atOnce

    /// The default from 4.0 on (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling).
    public static let standard = 20

    /// What sets the limit in force.
    public enum Source: Equatable, Sendable {
        /// Its version alone.
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
            // From 4.0 on a limit wins over -1, else the lower wins; before, the lower always does.
            version.limitsDeliveries && (argument < 0 || policy < 0)
                ? max(argument, policy) : min(argument, policy)
        case (let one?, nil), (nil, let one?): one
        case (nil, nil): version.limitsDeliveries ? Self.standard : nil
        }
    }

    /// Returns what must change for another limit.
    static func source(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) -> Source {
        guard queue.argumentLimit != nil || queue.policyLimit != nil else { return .broker }
        return queue.argumentLimit == value(queue, version) ? .argument : .policy
    }

    /// nil: none.
    public var count: Int? {
        switch self {
        case .none: nil
        case .finite(let count): count
        case .atOnce: 0
        }
    }

    /// Returns what the broker does with messages of the queue, and which policies apply.
    public func text(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) -> String {
        switch self {
        case .none: "RabbitMQ \(version) keeps what is given back"
        case .finite(let count):
            "RabbitMQ \(version) takes a message out that was given back \(count) times"
                + Self.cause(queue, version)
        case .atOnce: "x-delivery-limit -1 makes RabbitMQ \(version) drop what is given back"
        }
    }

    private static func cause(_ queue: BrokerSnapshot.Queue, _ version: BrokerVersion) -> String {
        switch (source(queue, version), queue.policyNames) {
        case (.argument, _): " (argument x-delivery-limit)"
        case (.policy, let names): " (policy \(names))"
        case (.broker, ""): ""
        case (.broker, let names): " (its default: policy \(names) sets no limit)"
        }
    }
}

extension BrokerSnapshot.Queue {
    fileprivate var argumentLimit: Int? { arguments[Topology.Queue.deliveryLimitName].flatMap { Int($0) } }
    fileprivate var policyLimit: Int? { policy["delivery-limit"].flatMap { Int($0) } }
}
