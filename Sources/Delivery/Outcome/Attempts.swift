/// The history of a request before a delivery. The headers of the delivery contain the history.
public struct Attempts: Sendable, Hashable {
    /// The number of previous attempts: pushes that APNs processed or may have processed.
    public var before = 0
    /// Whether an attempt had an unknown outcome, or a worker may have pushed the request without publishing its
    /// outcome.
    public var possibleDuplicate = false
    /// The number of republishes of the request. Waits for any reason, returns to the queue after a chunk, moves to the
    /// quarantine, and redrives of dead letters count. A published child of a request to users begins with 1.
    public var rounds = 0
    /// The id of the last round; 0 before the first round. If two publishes of a request have the same nonzero wait id,
    /// the second publish repeats the first publish. The id is random, except after a redrive, when it derives from the
    /// dead letter (decision 14).
    public var waitID: UInt32 = 0
    /// The history before the last round; nil unless that round was the move to the quarantine.
    public var beforeQuarantine: BeforeQuarantine?
    /// The time at which the first attempt failed, in UNIX milliseconds; nil before that.
    public var firstTriedAtMilliseconds: Int64?
    /// The number of hold rounds since the request's last attempt, or since children of the request were last
    /// published.
    public var holds = 0
    /// The time at which the first round counted by `holds` began, in UNIX milliseconds; nil if `holds` is 0.
    public var heldSinceMilliseconds: Int64?

    /// The history of a request before its move to the quarantine.
    public struct BeforeQuarantine: Sendable, Hashable {
        public var waitID: UInt32
        /// The number of failed deliveries that the broker had counted.
        public var deliveries: Int
        /// The time at which the request was moved, in UNIX milliseconds.
        public var movedAtMilliseconds: Int64
    }

    public init(before: Int = 0, possibleDuplicate: Bool = false, rounds: Int = 0) {
        self.before = before
        self.possibleDuplicate = possibleDuplicate
        self.rounds = rounds
    }

    /// Returns the history after an attempt.
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

    /// Returns the history after a round in which the request was held and not pushed.
    func held(atMilliseconds now: Int64) -> Attempts {
        var next = self
        next.rounds += 1
        next.beforeQuarantine = nil
        next.holds += 1
        next.heldSinceMilliseconds = heldSinceMilliseconds ?? now
        return next
    }

    /// Returns the history after a round in which children of the request were published.
    func expanded() -> Attempts {
        var next = self
        next.rounds += 1
        next.beforeQuarantine = nil
        next.holds = 0
        next.heldSinceMilliseconds = nil
        return next
    }

    /// Returns the history after the move to the quarantine.
    func quarantined(waitID: UInt32, deliveries: Int, atMilliseconds now: Int64) -> Attempts {
        var next = self
        next.rounds += 1
        next.beforeQuarantine = BeforeQuarantine(
            waitID: self.waitID, deliveries: deliveries, movedAtMilliseconds: now)
        next.waitID = waitID
        return next
    }
}
