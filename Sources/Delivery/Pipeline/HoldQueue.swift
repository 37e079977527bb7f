import EventLoop

/// The held requests of a lane that wait for its pace, with the timer of the next moves.
///
/// Loop-bound.
final class HoldQueue {
    private let loop: EventLoop
    private var requests: HeldRequests
    private var timer: TimerToken?

    init(loop: EventLoop, laneCount: Int) {
        self.loop = loop
        requests = HeldRequests(pace: HoldPace(laneCount: laneCount))
    }

    /// Returns whether a held request may move immediately, and if so counts it against the pace. If not, the caller
    /// adds it.
    func admit(isSuspended: Bool) -> Bool { !isSuspended && requests.admit(loop.now.monotonic) }

    func add(_ held: HeldRequests.Held) { requests.add(held) }

    func takeDue() -> HeldRequests.Held? { requests.takeDue(loop.now.monotonic) }

    func takeFirst() -> HeldRequests.Held? { requests.takeFirst() }

    /// Schedules a call of `heldRequestsDue` for the time of the next moves, if requests wait and moves are not
    /// suspended.
    func schedule(for pipeline: DeliveryPipeline, isSuspended: Bool) {
        guard timer == nil, !isSuspended, let time = requests.nextMove else { return }
        timer = loop.schedule(at: time) { [self] in
            timer = nil
            pipeline.heldRequestsDue()
        }
    }

    /// Whether held requests wait for their move.
    var isWaiting: Bool { requests.nextMove != nil }

    func cancelTimer() {
        if let timer = timer.take() { loop.cancel(timer) }
    }
}
