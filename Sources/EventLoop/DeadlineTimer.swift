/// One timer for many deadlines: fires at the earliest deadline that was armed since it last fired.
///
/// The owner arms the timer with each deadline and never cancels a single one. The timer never fires late, and may fire
/// before the first deadline that still counts; its action ends what is overdue and arms the next deadline.
///
/// Loop-bound. An armed timer keeps its owner alive until it fires or is canceled.
public final class DeadlineTimer {
    private let loop: EventLoop
    private var armed: (token: TimerToken, deadline: MonotonicTime)?

    public init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Calls `action` at `deadline`, unless an earlier call is armed already.
    ///
    /// `action` gets its owner as an argument, since a closure that captures nothing allocates nothing: most calls find an
    /// earlier deadline.
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
