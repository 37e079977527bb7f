/// How a publish ended. One word, as most are confirmed.
public enum PublishOutcome: Sendable, Hashable {
    /// The broker has it in every queue that it was routed to.
    case confirmed
    /// No queue took it: the broker's reply code and text.
    indirect case returned(code: UInt16, text: String)
    /// A queue refused it, being full or broken.
    case nacked
    /// Sent, but the connection or channel ended before the confirm came, or it never came: it may be in the queue.
    case unknown(AMQPError)
    /// Not sent, now; nothing is known against the message itself.
    case notSent(AMQPError)
    /// Not sent, and never will be as it is.
    case refused(PublishRefusal)
}

/// Why a message cannot be published at all.
public enum PublishRefusal: String, Error, Sendable, Hashable {
    /// An exchange name, routing key, message id or other short string of more than 255 bytes.
    case shortStringTooLong
    /// Properties and headers do not fit one frame.
    case headersTooLarge
    /// The body exceeds the publisher's `messageBytesMax`.
    case bodyTooLarge
}
