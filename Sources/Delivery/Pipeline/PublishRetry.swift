import AMQP
import EventLoop

/// A message that is published again until the broker confirms it.
final class PublishRetry {
    /// Delays before a message is published again, in milliseconds: the first, doubling up to the longest.
    private static let delayMilliseconds = 100
    private static let delayMillisecondsMax = 10_000
    /// Repeats after which the message is stuck.
    static let repeatsMax = 3

    private(set) var message: OutgoingMessage
    private(set) var repeats = 0
    private var delay = PublishRetry.delayMilliseconds
    /// Set while the next publish is scheduled: its number among those of the lane.
    var pause: (number: Int, timer: TimerToken)?

    init(_ message: OutgoingMessage) { self.message = message }

    var isStuck: Bool { repeats > Self.repeatsMax }

    /// Returns the delay before the next publish.
    func next(after outcome: PublishOutcome) -> Duration {
        // A request that is to come back may be at the broker already: two workers may get one of the two each.
        if case .unknown = outcome { message.markPossibleDuplicate() }
        repeats += 1
        defer { delay = min(delay * 2, Self.delayMillisecondsMax) }
        return .milliseconds(delay)
    }

    /// Leaves out the producer's properties and headers; returns false if there are none to leave out.
    func removeOptionalParts(for refusal: PublishRefusal) -> Bool { message.removeOptionalParts(for: refusal) }
}

extension OutgoingMessage {
    fileprivate mutating func removeOptionalParts(for refusal: PublishRefusal) -> Bool {
        guard refusal != .bodyTooLarge else { return false }
        let whole = self
        headers.entries.removeAll { !MessageHeaderName.all.contains($0.name) }
        (replyTo, correlationID, type, appID) = (nil, nil, nil, nil)
        return self != whole
    }

    fileprivate mutating func markPossibleDuplicate() {
        guard headers[MessageHeaderName.rounds] != nil,
            let index = headers.entries.firstIndex(where: { $0.name == MessageHeaderName.possibleDuplicate })
        else { return }
        headers.entries[index] = FieldTable.Entry(MessageHeaderName.possibleDuplicate, .boolean(true))
    }

    var destination: String { exchange.isEmpty ? "queue \(routingKey)" : "exchange \(exchange)" }
}
