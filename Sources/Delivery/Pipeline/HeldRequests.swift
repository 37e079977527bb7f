import EventLoop

/// The held requests of a lane that wait until its pace permits their move to a wait queue.
///
/// The prefetch limits their number. Each queue adds at most prefetch × lanes / 10,000 seconds of waiting.
struct HeldRequests {
    /// A held request. A request to users has no push.
    typealias Held = (push: PendingPush?, reason: HoldReason, record: DeliveryRecord)

    private var waiting = FIFO<Held>()
    private var pace: HoldPace

    init(pace: HoldPace) { self.pace = pace }

    /// Returns whether a request may move immediately, and if so counts it against the pace. If not, the caller adds
    /// it.
    mutating func admit(_ now: MonotonicTime) -> Bool { waiting.isEmpty && pace.admit(now) }

    mutating func add(_ held: Held) { waiting.append(held) }

    /// Removes and returns the next request that may move now; nil if no request may move now.
    mutating func takeDue(_ now: MonotonicTime) -> Held? {
        guard !waiting.isEmpty, pace.admit(now) else { return nil }
        return waiting.popFirst()
    }

    /// Removes and returns the next request, regardless of the pace.
    mutating func takeFirst() -> Held? { waiting.popFirst() }

    /// The time at which a full burst may move; nil if no request waits.
    var nextMove: MonotonicTime? { waiting.isEmpty ? nil : pace.nextBurst }
}
