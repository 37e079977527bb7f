package import AMQP
package import BrokerTopology

/// The source that confirms the origin of a dead letter (decision 43).
///
/// A producer may write any header. RabbitMQ verifies the property `user-id`, and reports the exchange of each
/// delivery.
package enum Provenance: String, Sendable {
    /// A worker, or an operator's command with the same rights. The headers `push-origin-*` and
    /// `push-original-message-id` are trusted.
    case worker
    /// The broker, which dead-lettered the message itself. `x-death` is trusted. The headers `push-*` are not.
    case broker
    /// No source. The origin is not confirmed.
    case unknown

    /// Determines the provenance of a dead letter.
    ///
    /// - Parameter user: The AMQP user of the reader; nil if unknown.
    package init(of message: IncomingMessage, user: String?, names: TopologyNames) {
        let userID = message.properties.userID
        switch message.exchange {
        case _ where userID != nil && userID == user: self = .worker
        // Producers may not publish to the exchange of dead letters. The headers of a dead letter without a user ID may
        // be unchecked copies of a producer's headers.
        case names.deadExchange where userID != nil: self = .worker
        // Only the broker publishes to these exchanges.
        case names.brokerDeadLettersExchange, names.otherDeadLettersExchange: self = .broker
        default: self = .unknown
        }
    }
}
