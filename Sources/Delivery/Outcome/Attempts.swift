/// What a delivery has behind it, as the headers say of a message that came back from a wait queue.
public struct Attempts: Sendable, Hashable {
    /// Tries before this one that APNs has, or may have, processed.
    public var before = 0
    /// Whether one of them had an unknown outcome, or a worker may have sent it without telling.
    public var possibleDuplicate = false
    /// Trips through a wait queue, whatever for, to the quarantine, and out of the dead letters.
    public var rounds = 0
    /// Names the last of them, 0 before the first: two messages with the same were one, whose publish was repeated. Drawn,
    /// but for the way out of the dead letters: that one has the dead letter's own name (decision 14).
    public var waitID: UInt32 = 0
    /// What was known before that trip, when it led to the quarantine.
    public var beforeQuarantine: BeforeQuarantine?
    /// When the first try that counts had failed, in UNIX milliseconds.
    public var firstTriedAtMilliseconds: Int64?
    /// Trips in a row for want of an open way: a breaker was open.
    public var holds = 0
    /// When the first of them began, in UNIX milliseconds.
    public var heldSinceMilliseconds: Int64?

    public struct BeforeQuarantine: Sendable, Hashable {
        public var waitID: UInt32
        /// Deliveries without an end, as the broker had counted them.
        public var deliveries: Int
        /// When it was moved, in UNIX milliseconds.
        public var movedAtMilliseconds: Int64
    }

    public init(before: Int = 0, possibleDuplicate: Bool = false, rounds: Int = 0) {
        self.before = before
        self.possibleDuplicate = possibleDuplicate
        self.rounds = rounds
    }

    /// After a try that counts.
    func tried(atMilliseconds now: Int64, wasUnknown: Bool = false) -> Attempts {
        var next = self
        next.before += 1
        next.rounds += 1
        next.possibleDuplicate = possibleDuplicate || wasUnknown
        next.firstTriedAtMilliseconds = firstTriedAtMilliseconds ?? now
        next.beforeQuarantine = nil
        next.holds = 0
        next.heldSinceMilliseconds = nil
        return next
    }

    /// After a round in which it was not sent.
    func held(atMilliseconds now: Int64) -> Attempts {
        var next = self
        next.rounds += 1
        next.beforeQuarantine = nil
        next.holds += 1
        next.heldSinceMilliseconds = heldSinceMilliseconds ?? now
        return next
    }

    /// In the quarantine, the same in all else.
    func quarantined(waitID: UInt32, deliveries: Int, atMilliseconds now: Int64) -> Attempts {
        var next = self
        next.rounds += 1
        next.beforeQuarantine = BeforeQuarantine(
            waitID: self.waitID, deliveries: deliveries, movedAtMilliseconds: now)
        next.waitID = waitID
        return next
    }
}
