/// The outcome of a publish. The rare case `returned` is indirect, which keeps every outcome at one word.
public enum PublishOutcome: Sendable, Hashable {
    /// A message that is in every queue to which it was routed.
    case confirmed
    /// A message that was routed to no queue, with the broker's reply code and text.
    indirect case returned(code: UInt16, text: String)
    /// A message that a queue refused, for example because the queue is full.
    case nacked
    /// A sent message without a confirm before the timeout or the loss of the channel. The message may be in the
    /// queue.
    case unknown(AMQPError)
    /// A message that was not sent, for a reason other than the message itself. A later publish may succeed.
    case notSent(AMQPError)
    /// A message that was not sent because it can never be published.
    case refused(PublishRefusal)
}

/// The reason why a message cannot be published at all.
public enum PublishRefusal: String, Error, Sendable, Hashable {
    /// An exchange name, routing key, message ID or other short string of more than 255 bytes.
    case shortStringTooLong
    /// Properties and headers that do not fit into one frame.
    case headersTooLarge
    /// A body that exceeds the publisher's `messageBytesMax`.
    case bodyTooLarge
}
