import Delivery

/// How often RabbitMQ lets a message of a quorum queue be given back.
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
                // Whoever has none wins over one below zero, else the lower.
                argument < 0 || policy < 0 ? max(argument, policy) : min(argument, policy)
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

    func remedy(_ version: BrokerVersion) -> String {
        version.limitsDeliveries
            ? "\(TopologyAdvice.apply), which sets a policy, or set it by martlet topology print --format rabbitmqctl "
                + "--broker \(version); one of yours with a higher priority needs delivery-limit -1"
            : "take delivery-limit out of the policy, or the argument by declaring the queue anew"
    }
}
