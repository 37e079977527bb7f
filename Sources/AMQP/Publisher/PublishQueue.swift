import EventLoop

/// The messages that wait to be sent, in order. Messages to missing exchanges are sent one at a time, while no other
/// message is unconfirmed (``MissingExchanges``).
struct PublishQueue {
    struct Entry {
        var message: OutgoingMessage
        var receiver: PublishReceiver
        var deadline: MonotonicTime
        /// Whether the message is sent alone, because its exchange was missing.
        var isAlone = false
    }

    private var waiting = FIFO<Entry>()
    private var waitingAlone = FIFO<Entry>()
    private var missing = MissingExchanges()

    var count: Int { waiting.count + waitingAlone.count }
    /// Whether a new message can be sent without waiting for other messages.
    var isPassable: Bool { waiting.isEmpty && missing.isEmpty }
    /// Whether a message that was sent alone is unanswered. No other message may be sent until its answer.
    var isTrialPending: Bool { missing.isTrialPending }
    var hasMissingExchanges: Bool { !missing.isEmpty }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// Removes and returns the next message that may be sent now; nil if there is none. Moves messages to missing
    /// exchanges into the list of messages that are sent alone. If the returned message is sent alone, call `trialSent`
    /// afterward.
    ///
    /// - Parameters:
    ///   - isIdle: whether every message that was sent is confirmed or refused.
    ///   - hasRoom: whether the channel accepts a message now and the confirm window has room for it.
    mutating func next(isIdle: Bool, hasRoom: (OutgoingMessage) -> Bool) -> Entry? {
        while var first = waiting.first {
            if missing.contains(first.message.exchange) {
                waiting.removeFirst()
                first.isAlone = true
                waitingAlone.append(first)
            } else {
                guard !isTrialPending, hasRoom(first.message) else { return nil }
                waiting.removeFirst()
                return first
            }
        }
        guard isIdle, !isTrialPending, let first = waitingAlone.first, hasRoom(first.message) else { return nil }
        waitingAlone.removeFirst()
        return first
    }

    /// Records that a message for this exchange was sent alone.
    mutating func trialSent(to exchange: String) { missing.trialSent(to: exchange) }

    /// Handles the answer to the message that was sent alone. The answer shows that the exchange exists. The messages
    /// that wait to be sent alone return to the end of the queue.
    mutating func trialAnswered() {
        missing.trialAnswered()
        while var first = waitingAlone.popFirst() {
            first.isAlone = false
            waiting.append(first)
        }
    }

    mutating func channelLost(_ error: AMQPError) { missing.channelLost(error) }

    /// Removes and returns the first message of either list if its deadline has passed; otherwise nil.
    mutating func popOverdue(_ now: MonotonicTime) -> Entry? {
        if let first = waiting.first, first.deadline <= now { return waiting.popFirst() }
        if let first = waitingAlone.first, first.deadline <= now { return waitingAlone.popFirst() }
        return nil
    }

    mutating func popFirst() -> Entry? { waiting.popFirst() ?? waitingAlone.popFirst() }

    /// The earlier deadline of the first messages of both lists; nil if no message waits.
    var deadline: MonotonicTime? {
        [waiting.first?.deadline, waitingAlone.first?.deadline].compactMap(\.self).min()
    }
}
