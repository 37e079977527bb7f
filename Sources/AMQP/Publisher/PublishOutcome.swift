/// The outcome of a publish. `indirect` keeps it at one word, because most publishes are confirmed.
public enum PublishOutcome: Sendable, Hashable {
    /// The message is in every queue to which it was routed.
    case confirmed
    /// The message was routed to no queue: the broker's reply code and text.
    indirect case returned(code: UInt16, text: String)
    /// A queue refused the message, for example because it is full.
    case nacked
    /// Sent, but no confirm arrived before the timeout or the loss of the channel. The message may be in the queue.
    case unknown(AMQPError)
    /// Not sent, for a reason other than the message. A later publish may succeed.
    case notSent(AMQPError)
    /// Not sent, because the message can never be published.
    case refused(PublishRefusal)
}

/// The reason why a message cannot be published at all.
public enum PublishRefusal: String, Error, Sendable, Hashable {
    /// An exchange name, routing key, message ID or other short string exceeds 255 bytes.
    case shortStringTooLong
    /// Properties and headers do not fit one frame.
    case headersTooLarge
    /// The body exceeds the publisher's `messageBytesMax`.
    case bodyTooLarge
}
