package import AMQP

extension PublishOutcome {
    /// The reason for a failure, with a remedy if known; nil if the broker confirmed the message.
    package var failure: String? {
        switch self {
        case .confirmed: nil
        case .returned(_, let text): "no queue is bound (\(text)); run: martlet topology apply"
        case .nacked: "the queue is full or unavailable; consume from the queue, or raise its limit"
        case .refused(.shortStringTooLong): "a queue name or property is longer than 255 bytes"
        case .refused(.headersTooLarge): "the properties do not fit into one frame"
        case .refused(.bodyTooLarge): "the message is too large"
        case .unknown(let error) where error.code == .notFound, .notSent(let error) where error.code == .notFound:
            "\(error.message); run: martlet topology apply"
        case .unknown(let error): "the broker may have received the message: \(error.message)"
        case .notSent(let error): error.message
        }
    }

    /// Whether the publish failed, but the broker may have received the message. If the exchange does not exist, the
    /// broker closes the channel and discards the message.
    package var isUnknown: Bool {
        if case .unknown(let error) = self { error.code != .notFound } else { false }
    }
}
