import AMQP

/// The publishes of one reply: destination, repeats and delays. Pure.
///
/// The worker publishes the reply to the requester first. Without an address, or if the requester cannot be reached,
/// the worker publishes the reply to the result exchange. There, the worker repeats the publish until the broker
/// confirms the reply, no broker would accept the reply, or the worker stops.
struct ReplyDelivery {
    enum Step: Hashable {
        case done
        /// A redirection of the reply to the result exchange, for this reason.
        case redirected(String)
        case again(milliseconds: Int)
        /// A reply that no broker would accept, even without its optional properties.
        case impossible(PublishRefusal)
    }

    /// The number of repeats at the requester's address before a reply is redirected. The limit applies if the last
    /// publish was nacked or has an unknown outcome. If the address accepted an unconfirmed publish, the reply exists
    /// twice, which is harmless.
    static let repeatsMax = 3
    /// The delay before the first repeat. Each further repeat doubles the delay, up to `delayMillisecondsMax`.
    private static let delayMilliseconds = 100
    private static let delayMillisecondsMax = 10_000

    /// INTERNAL_ERROR (AMQP 0-9-1, section 1.2). The broker failed to process the method.
    private static let internalErrorReplyCode: UInt16 = 541

    private(set) var message: OutgoingMessage
    /// The number of repeats at the current destination.
    private(set) var repeats = 0
    private var delay = delayMilliseconds
    private let address: ReplyAddress?
    private let results: (exchange: String, routingKey: String)

    /// Creates the publishes of a reply.
    ///
    /// - Parameters:
    ///   - message: The reply. Its exchange and routing key are ignored.
    ///   - address: The requester; nil to publish to the result exchange only.
    init(
        _ message: OutgoingMessage, to address: ReplyAddress?, orElse results: (exchange: String, routingKey: String)
    ) {
        (self.message, self.address, self.results) = (message, address, results)
        (self.message.exchange, self.message.routingKey) = address.map { ("", $0.queue) } ?? results
    }

    private var isForRequester: Bool { message.exchange.isEmpty }

    /// The consumer of direct reply-to whose existence the publisher checks before each publish; nil for any other
    /// destination.
    ///
    /// The check is needed because RabbitMQ (3.10) returns a delivered reply in the same way as an undeliverable reply.
    /// A consumer that leaves between the check and the publish loses its reply, which direct reply-to permits.
    var consumer: String? {
        guard isForRequester, let address, address.isDirect else { return nil }
        return address.queue
    }

    /// The destination, as logged for operators. Direct reply-to names are secrets of the requester and are omitted.
    var destination: String { consumer == nil ? message.destination : "direct reply-to" }

    mutating func consumerMissing() -> Step { redirect("receiver not found") }

    mutating func ended(_ outcome: PublishOutcome) -> Step {
        switch outcome {
        case .confirmed: return .done
        case .returned where consumer != nil: return .done
        case .returned where isForRequester: return consumerMissing()
        case .nacked where isForRequester && repeats >= Self.repeatsMax:
            return redirect(outcome.advice)
        // A repeat does not help after an error that needs an operator, such as a missing permission. A channel that
        // RabbitMQ crashed for this address would crash again.
        case .unknown(let error)
        where isForRequester
            && (repeats >= Self.repeatsMax || !error.isRetriable || error.replyCode == Self.internalErrorReplyCode):
            return redirect(outcome.advice)
        case .refused(let refusal):
            let whole = message
            // The requester set these properties, so one of these properties may cause the refusal.
            (message.correlationID, message.messageID) = (nil, Self.noID)
            let step = redirect(refusal.rawValue)
            return message == whole ? .impossible(refusal) : step
        case .returned, .nacked, .unknown, .notSent:
            repeats += 1
            defer { delay = min(delay * 2, Self.delayMillisecondsMax) }
            return .again(milliseconds: delay)
        }
    }

    /// The `message-id` of a reply that does not repeat the `message-id` of its command.
    static let noID = "-"

    private mutating func redirect(_ reason: String) -> Step {
        (message.exchange, message.routingKey) = results
        (repeats, delay) = (0, Self.delayMilliseconds)
        return .redirected(reason)
    }
}
