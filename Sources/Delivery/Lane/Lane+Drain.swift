import AMQP
import APNS
import EventLoop

extension Lane {
    /// After the drain, how long the broker may take to apply what was settled.
    public static let settleDeadlineSeconds = 2
    /// After that, how long it may take to answer the close of each of the two connections.
    public static let closeDeadlineSeconds = 1

    /// How long the broker may take to stop the consumers of a lane.
    private static let cancelDeadlineSeconds = 10

    private static let finishLookMilliseconds: Int64 = 50

    /// Takes no more messages, and returns when the broker sends none, or does not answer. What it sends until it knows
    /// would be given back by the drain, and count as a failed delivery.
    public func stopTaking() async {
        _ = pause(.everything)
        await stopConsuming(deadlineSeconds: Self.cancelDeadlineSeconds)
    }

    private func stopConsuming(deadlineSeconds: Int) async {
        for consumer in consumers { consumer.pause() }
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        for consumer in consumers where !isEnding { await consumer.stopConsuming(by: deadline) }
    }

    /// After `stopTaking`, waits for the end of those on their way: to be followed by `drain`.
    public func finish(deadlineSeconds: Int) async {
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        while holdsMessages, !state.isDraining, loop.now.monotonic < deadline {
            await loop.sleep(for: .milliseconds(Self.finishLookMilliseconds))
        }
    }

    /// Those that wait to be begun, or to come, included.
    private var holdsMessages: Bool {
        inFlight > 0 || consumers.contains { $0.unsettledCount > 0 }
    }

    /// Takes no more messages, finishes those on their way, acknowledges and closes; whatever is left at the deadline
    /// stays unacknowledged, so that the broker delivers it again.
    public func drain(deadlineSeconds: Int) async -> DrainReport {
        guard state.drain() else { return DrainReport(unfinished: inFlight) }
        stateChanged()
        cancelAvailabilityReview()
        // They waited for the review.
        scheduleMove()
        let timer = loop.schedule(after: .seconds(deadlineSeconds)) { self.assumeIsolated { $0.giveUp() } }
        // First: a delivery that returns would come to this lane again. Deliveries in transit are processed: returning them
        // would count as failed deliveries.
        await stopConsuming(deadlineSeconds: min(deadlineSeconds, Self.cancelDeadlineSeconds))
        state.leave()
        deliverHeld()
        moveAllHeld()
        giveUpTurns()
        for pool in pools { pool.stopAccepting() }
        if inFlight > 0, !isEnding { await withUnsafeContinuation { whenIdle = $0 } }
        loop.cancel(timer)
        handOverSpans()
        let report = DrainReport(unfinished: inFlight)
        for pool in pools {
            pool.close()
            // What it calls holds the lane.
            pool.onEvent = { _ in }
        }
        // Whoever waited on would not be called any more: the loop may end with the lane.
        backlog.pauses.resume(returning: ())
        copies.endWaits(of: ObjectIdentifier(self))
        await untilSettled()
        await consuming.close(deadlineSeconds: Self.closeDeadlineSeconds)
        await publishing.close(deadlineSeconds: Self.closeDeadlineSeconds)
        // From here on nobody would be told of what is published: so nothing is.
        isEnding = true
        // They hold the lane.
        whenPushed = { _, _, _ in }
        whenPublished = { _, _, _ in }
        return report
    }

    private func untilSettled() async {
        let deadline = loop.now.monotonic + .seconds(Self.settleDeadlineSeconds)
        for consumer in consumers {
            guard await consumer.untilSettled(by: deadline), consumer.unsettledCount == 0 else { continue }
            // Nothing that it delivered comes again: what does, and is marked as redelivered, is another that is alike.
            consumer.onChannelLost = {}
        }
    }

    private func giveUp() {
        isEnding = true
        idle()
    }

    func idle() {
        whenIdle?.resume()
        whenIdle = nil
    }

    /// Deliveries that were on their way when the deadline came.
    public struct DrainReport: Sendable, Hashable {
        public var unfinished: Int
    }
}
