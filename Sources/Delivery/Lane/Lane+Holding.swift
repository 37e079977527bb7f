import EventLoop
import Telemetry

/// Requests that an open breaker or an operator's pause holds.
extension Lane {
    /// Moves a held request to a wait queue, or ends it where it has no time left. Above the lane's pace, and while the lane
    /// finds out whether any endpoint accepts connections, it waits here first, unacknowledged, so that the prefetch slows
    /// consumption down.
    func hold(_ sending: PendingPush, because cause: HoldReason, _ record: DeliveryRecord) {
        guard !state.isLeaving, availabilityTimer != nil || !held.admit(loop.now.monotonic) else {
            return move(sending, cause, record)
        }
        var sending = sending
        let turnBegunAt = sending.turnBegunAt.take()
        held.add((sending, cause, record))
        scheduleMove()
        if let turnBegunAt { endTurn(of: sending.notification.app, begunAt: turnBegunAt) }
    }

    private func move(_ sending: PendingPush, _ cause: HoldReason, _ record: DeliveryRecord) {
        counters.held.add()
        conclude(sending, by: policy.hold(cause, of: subject(sending.notification, record)), record)
    }

    func scheduleMove() {
        guard held.timer == nil, availabilityTimer == nil, let time = held.nextMove else { return }
        held.timer = loop.schedule(at: time) {
            self.assumeIsolated { lane in
                lane.held.timer = nil
                if lane.availabilityTimer != nil { return }
                while let next = lane.held.takeDue(lane.loop.now.monotonic) { lane.moveUnlessLost(next) }
                lane.scheduleMove()
            }
        }
    }

    /// A request whose channel was lost meanwhile is delivered again.
    private func moveUnlessLost(_ next: HeldRequests.Held) {
        if holds(next.record) {
            move(next.sending, next.cause, next.record)
        } else {
            conclude(next.sending, by: .requeue, next.record)
        }
    }

    /// For a drain, which would requeue them at its deadline.
    func moveAllHeld() {
        if let timer = held.timer.take() { loop.cancel(timer) }
        while let next = held.takeFirst() { moveUnlessLost(next) }
    }
}
