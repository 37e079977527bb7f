import EventLoop

/// The held requests of a lane that wait until its pace lets them move to a wait queue. The prefetch limits how many there
/// are: each queue adds at most prefetch × lanes / 10,000 seconds.
struct HeldRequests {
    typealias Held = (push: PendingPush, reason: HoldReason, record: DeliveryRecord)

    private var waiting = FIFO<Held>()
    private var pace: HoldPace

    init(pace: HoldPace) { self.pace = pace }

    /// Returns whether a request may move at once; else it is to be added.
    mutating func admit(_ now: MonotonicTime) -> Bool { waiting.isEmpty && pace.admit(now) }

    mutating func add(_ held: Held) { waiting.append(held) }

    /// The next that may move now.
    mutating func takeDue(_ now: MonotonicTime) -> Held? {
        guard !waiting.isEmpty, pace.admit(now) else { return nil }
        return waiting.popFirst()
    }

    /// The next, whatever the pace.
    mutating func takeFirst() -> Held? { waiting.popFirst() }

    /// When the next are to move; nil when none wait.
    var nextMove: MonotonicTime? { waiting.isEmpty ? nil : pace.nextBurst }
}
