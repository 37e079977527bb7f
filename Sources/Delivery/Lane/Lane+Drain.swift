import AMQP
import APNS
import EventLoop

extension Lane {
    /// The maximum time for the broker to apply the acknowledgments and requeues of the drain.
    public static let settleDeadlineSeconds = 2
    /// The maximum time for the broker to answer the close of each of the lane's two connections.
    public static let closeDeadlineSeconds = 1

    /// The maximum time for the broker to cancel the consumers of a lane.
    private static let cancelDeadlineSeconds = 10

    /// Stops the consumers for good, because another lane replaces this one. Returns when the broker has sent the last
    /// delivery, or after a timeout of 10 seconds.
    public func stopConsuming() async {
        pipeline.replaced()
        await stopConsumers(deadlineSeconds: Self.cancelDeadlineSeconds)
    }

    private func stopConsumers(deadlineSeconds: Int) async {
        let consumers = pipeline.session.consumers
        for consumer in consumers { consumer.pause() }
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        for consumer in consumers where pipeline.lifecycle != .ended { await consumer.stopConsuming(by: deadline) }
    }

    /// Waits after `stopConsuming` until all deliveries have ended, a drain begins, or the deadline passes. A drain
    /// must follow.
    public func finish(deadlineSeconds: Int) async {
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        while pipeline.hasDeliveries, !pipeline.lifecycle.isDraining, loop.now.monotonic < deadline {
            await pipeline.deliveries.idle.wait(on: loop, for: loop.now.monotonic.duration(to: deadline)) {}
        }
    }

    /// Stops consuming, settles or requeues the deliveries in flight, and closes the connections. The broker redelivers
    /// the deliveries that remain at the deadline. The lane requeues these deliveries or leaves them unacknowledged.
    /// Returns immediately if a drain has already begun.
    public func drain(deadlineSeconds: Int) async -> DrainReport {
        guard pipeline.stop() else { return DrainReport(unfinished: pipeline.deliveries.count) }
        let timer = loop.schedule(after: .seconds(deadlineSeconds)) { [pipeline] in pipeline.end() }
        // Stop the consumers first. Otherwise, the broker could deliver a requeued request to this lane again. Process
        // deliveries in transit, since a requeue would count as a failed delivery.
        await stopConsumers(deadlineSeconds: min(deadlineSeconds, Self.cancelDeadlineSeconds))
        pipeline.leave()
        while pipeline.deliveries.count > 0, pipeline.lifecycle != .ended {
            await pipeline.deliveries.idle.wait(on: loop, for: .seconds(deadlineSeconds)) {}
        }
        loop.cancel(timer)
        pipeline.spans.flush()
        pipeline.messages.journal?.flush()
        let report = DrainReport(unfinished: pipeline.deliveries.count)
        pipeline.dispatcher.close()
        // End all waits and timers here, since the loop may end with the lane.
        pipeline.retrier.end()
        pipeline.duplicates.endWaits()
        await pipeline.session.close(
            settleSeconds: Self.settleDeadlineSeconds, closeSeconds: Self.closeDeadlineSeconds)
        await pipeline.expander?.finder.close()
        pipeline.end()
        return report
    }

    public struct DrainReport: Sendable, Hashable {
        /// The number of deliveries still in flight; 0 if all deliveries ended before the deadline.
        public var unfinished: Int
    }
}
