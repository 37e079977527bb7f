import AMQP
import EventLoop
import Registrations

/// The repeated publishes of one message, until the broker confirms the message or the worker gives it up.
final class PublishRetry {
    /// The delay before the first repeated publish. Each further repeat doubles the delay, up to
    /// `delayMillisecondsMax`.
    private static let delayMilliseconds = 100
    private static let delayMillisecondsMax = 10_000
    /// The number of repeats after which the message is stuck.
    static let repeatsMax = 3

    private(set) var message: OutgoingMessage
    private(set) var repeats = 0
    /// Whether the outcome of a publish is unknown, so that the message may be in its queue.
    private(set) var mayBePublished = false
    private var delay = PublishRetry.delayMilliseconds
    /// The last pause before a publish, numbered within the lane; nil before the first pause.
    var pause: (number: Int, timer: TimerToken)?

    init(_ message: OutgoingMessage) { self.message = message }

    var isStuck: Bool { repeats > Self.repeatsMax }

    /// Counts a repeat and returns the delay before it. After an unknown outcome, marks a republished request or a
    /// registration event as a possible duplicate.
    func next(after outcome: PublishOutcome) -> Duration {
        // The queue may already contain the message. Two workers may then each receive a delivery of the same request.
        if case .unknown = outcome {
            mayBePublished = true
            message.markPossibleDuplicate()
        }
        repeats += 1
        defer { delay = min(delay * 2, Self.delayMillisecondsMax) }
        return .milliseconds(delay)
    }

    /// Removes the optional properties and the producer's headers. Returns false if the message has none of them. Also
    /// returns false if its body is too large, since a removal would not help.
    func removeOptionalParts(for refusal: PublishRefusal) -> Bool { message.removeOptionalParts(for: refusal) }
}

extension OutgoingMessage {
    mutating func removeOptionalParts(for refusal: PublishRefusal) -> Bool {
        guard refusal != .bodyTooLarge else { return false }
        let whole = self
        headers.entries.removeAll { !MessageHeaderName.all.contains($0.name) }
        (replyTo, correlationID, type, appID) = (nil, nil, nil, nil)
        return self != whole
    }

    fileprivate mutating func markPossibleDuplicate() {
        if type == RegistrationEvent.type, headers[MessageHeaderName.possibleDuplicate] == nil {
            return headers.append(MessageHeaderName.possibleDuplicate, .boolean(true))
        }
        guard headers[MessageHeaderName.rounds] != nil,
            let index = headers.entries.firstIndex(where: { $0.name == MessageHeaderName.possibleDuplicate })
        else { return }
        headers.entries[index] = FieldTable.Entry(MessageHeaderName.possibleDuplicate, .boolean(true))
    }

    var destination: String { exchange.isEmpty ? "queue \(routingKey)" : "exchange \(exchange)" }
}
