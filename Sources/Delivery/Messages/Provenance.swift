package import AMQP
package import BrokerTopology

/// The source that confirms the origin of a dead letter (decision 43). A producer may write any header. RabbitMQ verifies the
/// property `user-id`, and says itself which exchange a delivery came through.
package enum Provenance: String, Sendable {
    /// A worker, or an operator's command with the same rights: the headers `push-origin-*` and
    /// `push-original-message-id` hold.
    case worker
    /// The broker, which dead-lettered the message itself: `x-death` holds, the headers do not.
    case broker
    /// No source confirms it.
    case unknown

    /// - Parameter user: the AMQP user of the reader; nil where it is not known.
    package init(of message: IncomingMessage, user: String?, names: TopologyNames) {
        let userID = message.properties.userID
        switch message.exchange {
        case _ where userID != nil && userID == user: self = .worker
        // A worker's user alone has the right to publish there. Earlier versions, which copied a producer's headers
        // unchecked, set no user ID.
        case names.deadExchange where userID != nil: self = .worker
        // The broker alone publishes there.
        case names.brokerDeadLettersExchange, names.otherDeadLettersExchange: self = .broker
        default: self = .unknown
        }
    }
}
