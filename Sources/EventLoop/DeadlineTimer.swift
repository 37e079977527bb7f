/// A timer for many deadlines. The timer fires at the earliest deadline that was armed since its last firing or
/// cancellation, and drops the other deadlines.
///
/// The owner cannot cancel a single deadline, so the timer may fire when no deadline is due. If there are several
/// deadlines, the action must check which of them are due, and arm the next deadline.
///
/// The timer is used on its loop's thread only. An armed timer keeps its owner alive until it fires or is canceled.
public final class DeadlineTimer {
    private let loop: EventLoop
    private var armed: (token: TimerToken, deadline: MonotonicTime)?

    public init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Schedules `action` at `deadline`, unless an earlier or equal deadline is armed.
    ///
    /// `action` receives the owner as an argument, because a closure without captures needs no allocation. Most calls
    /// find an earlier deadline and thus allocate nothing.
    @inlinable
    public func arm<Owner: AnyObject>(
        at deadline: MonotonicTime, for owner: Owner, _ action: @escaping (Owner) -> Void
    ) {
        if isEarliest(deadline) { schedule(at: deadline) { action(owner) } }
    }

    public func cancel() {
        if let armed { loop.cancel(armed.token) }
        armed = nil
    }

    @usableFromInline func isEarliest(_ deadline: MonotonicTime) -> Bool {
        guard let armed else { return true }
        return deadline < armed.deadline
    }

    @usableFromInline func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) {
        cancel()
        let token = loop.schedule(at: deadline) { [self] in
            armed = nil
            action()
        }
        armed = (token, deadline)
    }
}
