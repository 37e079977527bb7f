import AMQP
import APNS
import EventLoop

extension Lane {
    /// After the drain, the time that the broker has to apply the settlements.
    public static let settleDeadlineSeconds = 2
    /// After that, the time that the broker has to answer the close of each of the two connections.
    public static let closeDeadlineSeconds = 1

    /// The time that the broker has to stop the consumers of a lane.
    private static let cancelDeadlineSeconds = 10

    /// Pauses, and returns when the broker has sent the last delivery, or does not answer. A drain would return the deliveries
    /// that come later, and each would count as a failed delivery.
    public func stopConsuming() async {
        _ = pause(.everything)
        await stopConsumers(deadlineSeconds: Self.cancelDeadlineSeconds)
    }

    private func stopConsumers(deadlineSeconds: Int) async {
        let consumers = pipeline.session.consumers
        for consumer in consumers { consumer.pause() }
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        for consumer in consumers where pipeline.lifecycle != .ended { await consumer.stopConsuming(by: deadline) }
    }

    /// After `stopConsuming`, waits for the end of all deliveries, or for a drain, which is to follow.
    public func finish(deadlineSeconds: Int) async {
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        while pipeline.hasDeliveries, !pipeline.lifecycle.isDraining, loop.now.monotonic < deadline {
            await pipeline.idle.wait(on: loop, for: loop.now.monotonic.duration(to: deadline)) {}
        }
    }

    /// Consumes no more, ends the deliveries in flight, acknowledges and closes. Deliveries that are left at the deadline stay
    /// unacknowledged, so that the broker delivers them again.
    public func drain(deadlineSeconds: Int) async -> DrainReport {
        guard pipeline.stop() else { return DrainReport(unfinished: pipeline.inFlight) }
        let timer = loop.schedule(after: .seconds(deadlineSeconds)) { [pipeline] in pipeline.end() }
        // First, since a delivery that returns would come to this lane again. Deliveries in transit are processed: their
        // return would count as a failed delivery.
        await stopConsumers(deadlineSeconds: min(deadlineSeconds, Self.cancelDeadlineSeconds))
        pipeline.leave()
        while pipeline.inFlight > 0, pipeline.lifecycle != .ended {
            await pipeline.idle.wait(on: loop, for: .seconds(deadlineSeconds)) {}
        }
        loop.cancel(timer)
        pipeline.spans.flush()
        let report = DrainReport(unfinished: pipeline.inFlight)
        pipeline.dispatcher.close()
        // The loop may end with the lane.
        pipeline.retrier.end()
        pipeline.duplicates.endWaits()
        await pipeline.session.close(
            settleSeconds: Self.settleDeadlineSeconds, closeSeconds: Self.closeDeadlineSeconds)
        pipeline.end()
        return report
    }

    /// The result of a drain.
    public struct DrainReport: Sendable, Hashable {
        /// Deliveries in flight at the deadline.
        public var unfinished: Int
    }
}
