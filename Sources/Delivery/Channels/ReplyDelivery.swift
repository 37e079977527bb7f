import AMQP

/// One reply on its way: where it is published, how often, and when once more. Pure.
///
/// First to who asked. Whom it cannot reach stops nobody: it goes to the exchange of results then, and there it is repeated
/// until the broker has it, as what becomes of pushes is.
struct ReplyDelivery {
    enum Step: Hashable {
        case done
        /// It goes to the exchange of results from now on: why.
        case redirected(String)
        case again(milliseconds: Int)
        /// No broker would take it, whatever is left out.
        case impossible(PublishRefusal)
    }

    /// Repeats of what the queue of who asked does not take, or may have taken, before it is told elsewhere. One that it had
    /// taken after all is told twice, which does no harm.
    static let repeatsMax = 3
    /// Delay before a repeat; doubles up to the largest.
    private static let delayMilliseconds = 100
    private static let delayMillisecondsMax = 10_000

    /// INTERNAL_ERROR (AMQP 0-9-1, 1.2): the broker failed at what it was asked.
    private static let internalErrorReplyCode: UInt16 = 541

    private(set) var message: OutgoingMessage
    /// Of the place where it is published now.
    private(set) var repeats = 0
    private var delay = delayMilliseconds
    private let address: ReplyAddress?
    private let results: (exchange: String, routingKey: String)

    /// - Parameters:
    ///   - message: but where to.
    ///   - address: nil: nobody is to be told but who reads the results.
    init(
        _ message: OutgoingMessage, to address: ReplyAddress?, orElse results: (exchange: String, routingKey: String)
    ) {
        (self.message, self.address, self.results) = (message, address, results)
        (self.message.exchange, self.message.routingKey) = address.map { ("", $0.queue) } ?? results
    }

    private var isToWhoAsked: Bool { message.exchange.isEmpty }

    /// Who has to be there, which the broker is asked before each publish: what RabbitMQ hands to direct reply-to it returns
    /// all the same (3.10 does), as it returns what nobody is there for. Who goes in between loses the reply, which direct
    /// reply-to never promised.
    var consumer: String? {
        guard isToWhoAsked, let address, address.isDirect else { return nil }
        return address.queue
    }

    /// For operators; the names of direct reply-to are a secret of who asked.
    var destination: String { consumer == nil ? message.destination : "direct reply-to" }

    mutating func consumerHasGone() -> Step { redirect("who asked has gone") }

    mutating func ended(_ outcome: PublishOutcome) -> Step {
        switch outcome {
        case .confirmed: return .done
        case .returned where consumer != nil: return .done
        case .returned where isToWhoAsked: return consumerHasGone()
        case .nacked where isToWhoAsked && repeats >= Self.repeatsMax:
            return redirect(outcome.advice)
        // What only somebody's hand can help, such as a permission that is lacking, is not waited for.
        // A channel that RabbitMQ crashed for this address would crash again.
        case .unknown(let error)
        where isToWhoAsked
            && (repeats >= Self.repeatsMax || !error.isRetriable || error.replyCode == Self.internalErrorReplyCode):
            return redirect(outcome.advice)
        case .refused(let refusal):
            let whole = message
            // They are the producer's.
            (message.correlationID, message.messageID) = (nil, Self.noID)
            let step = redirect(refusal.rawValue)
            return message == whole ? .impossible(refusal) : step
        case .returned, .nacked, .unknown, .notSent:
            repeats += 1
            defer { delay = min(delay * 2, Self.delayMillisecondsMax) }
            return .again(milliseconds: delay)
        }
    }

    /// Stands for the `message-id` where there is none to give back.
    static let noID = "-"

    private mutating func redirect(_ why: String) -> Step {
        (message.exchange, message.routingKey) = results
        (repeats, delay) = (0, Self.delayMilliseconds)
        return .redirected(why)
    }
}
