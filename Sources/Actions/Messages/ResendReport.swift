package import AMQP

/// The outcome of one message that was chosen to be published again.
package struct ResendReport: Sendable {
    package enum Outcome: Sendable {
        /// The message was published, confirmed and removed.
        case resent
        /// A worker would refuse the message, which stays in the queue.
        case refused(code: String, reason: String)
        /// The message cannot be published, and stays in the queue.
        case foreign(String)
        /// The original request queue of the dead letter is unknown or not configured. The dead letter stays.
        case noTarget
        /// No queue is bound for the routing key. The message stays in the queue.
        case unroutable(routingKey: String)
        /// The publish failed. The message stays in the queue.
        case notPublished(PublishOutcome, routingKey: String)
        /// The message was published and confirmed, but the connection was lost before its removal.
        case left
    }

    package let id: String
    package let outcome: Outcome
}
