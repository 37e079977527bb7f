import EventLoop

/// The messages that wait to be sent, in order. Those for exchanges that are missing go alone, once all others are confirmed
/// (``MissingExchanges``).
struct PublishQueue {
    struct Entry {
        var message: OutgoingMessage
        var receiver: PublishReceiver
        var deadline: MonotonicTime
        /// Whether its exchange was missing.
        var isAlone = false
    }

    private var waiting = FIFO<Entry>()
    private var waitingAlone = FIFO<Entry>()
    private var missing = MissingExchanges()

    var count: Int { waiting.count + waitingAlone.count }
    /// Whether a message need not wait for another.
    var isPassable: Bool { waiting.isEmpty && missing.isEmpty }
    /// Whether a message went alone and is not answered: no other may be sent.
    var isTrying: Bool { missing.isTrying }
    var hasMissingExchanges: Bool { !missing.isEmpty }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// Removes the next message that may be sent now. Call `tries` once it was sent, if it goes alone.
    ///
    /// - Parameters:
    ///   - isIdle: every message that was sent is confirmed.
    ///   - hasRoom: whether there is room for a message.
    mutating func next(isIdle: Bool, hasRoom: (OutgoingMessage) -> Bool) -> Entry? {
        while var first = waiting.first {
            if missing.contains(first.message.exchange) {
                waiting.removeFirst()
                first.isAlone = true
                waitingAlone.append(first)
            } else {
                guard !isTrying, hasRoom(first.message) else { return nil }
                waiting.removeFirst()
                return first
            }
        }
        guard isIdle, !isTrying, let first = waitingAlone.first, hasRoom(first.message) else { return nil }
        waitingAlone.removeFirst()
        return first
    }

    /// A message for this exchange was sent alone.
    mutating func tries(_ exchange: String) { missing.tries(exchange) }

    /// The message that was sent alone was answered: its exchange exists.
    mutating func endTry() {
        missing.tryEnded()
        while var first = waitingAlone.popFirst() {
            first.isAlone = false
            waiting.append(first)
        }
    }

    mutating func channelLost(_ error: AMQPError) { missing.channelLost(error) }

    /// Removes a message whose deadline has passed.
    mutating func popOverdue(_ now: MonotonicTime) -> Entry? {
        if let first = waiting.first, first.deadline <= now { return waiting.popFirst() }
        if let first = waitingAlone.first, first.deadline <= now { return waitingAlone.popFirst() }
        return nil
    }

    mutating func popFirst() -> Entry? { waiting.popFirst() ?? waitingAlone.popFirst() }

    /// When the next message is overdue.
    var deadline: MonotonicTime? {
        [waiting.first?.deadline, waitingAlone.first?.deadline].compactMap(\.self).min()
    }
}
