package import AMQP
package import BrokerTopology

/// The source that confirms the origin of a dead letter (decision 43).
///
/// A producer may write any header. RabbitMQ verifies the property `user-id`, and reports the exchange of each
/// delivery.
package enum Provenance: String, Sendable {
    /// A worker, or an operator's command with the same rights: the headers `push-origin-*` and
    /// `push-original-message-id` hold.
    case worker
    /// The broker, which dead-lettered the message itself: `x-death` holds, the headers do not.
    case broker
    /// No source confirms the origin.
    case unknown

    /// - Parameter user: The AMQP user of the reader; nil if unknown.
    package init(of message: IncomingMessage, user: String?, names: TopologyNames) {
        let userID = message.properties.userID
        switch message.exchange {
        case _ where userID != nil && userID == user: self = .worker
        // Only a worker's user may publish there. Earlier versions, which copied a producer's headers unchecked, set no
        // user ID.
        case names.deadExchange where userID != nil: self = .worker
        // Only the broker publishes there.
        case names.brokerDeadLettersExchange, names.otherDeadLettersExchange: self = .broker
        default: self = .unknown
        }
    }
}
