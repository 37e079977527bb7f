import EventLoop

extension Consumer {
    /// The divisor of the prefetch. The quotient is the largest number of unacknowledged deliveries with which the
    /// next consumer starts.
    private static let remainderDivisor = 4

    /// Sends `basic.consume` if at most a quarter of the prefetch is unacknowledged. Deliveries to earlier consumers of
    /// the channel do not count toward the prefetch of a new consumer. The condition thus limits all unacknowledged
    /// deliveries to one and a quarter prefetches.
    func consumeWhenSettled() {
        if window.unacknowledgedCount <= prefetch / Self.remainderDivisor { sendConsume() }
    }

    func sendConsume() {
        subscription = .starting
        consumerNumber += 1
        firstTag = window.nextTag
        channel.expectAnswer()
        let consume = ClientMethod.basicConsume(
            queue: configuration.queue, consumerTag: consumerTag, arguments: FieldTable())
        if !channel.send(consume) {
            channel.abandon(
                AMQPError(.preconditionFailed, "the queue's name is longer than 255 bytes", isRetriable: false))
        }
    }

    /// Sends `basic.cancel`. Withheld settlements follow at the end of the event-loop iteration.
    func sendCancel() {
        quiescenceTimer.cancel()
        subscription = .stopping
        hasSettledSinceCancel = false
        channel.expectAnswer()
        channel.send(.basicCancel(consumerTag: consumerTag))
    }

    func quiesce() {
        let now = loop.now.monotonic
        review(Quiescence(room: prefetch - window.unacknowledgedCount(from: firstTag), now: now), now)
    }

    func review(_ quiescence: Quiescence, _ now: MonotonicTime) {
        subscription = .quiescing(quiescence)
        guard !quiescence.isOver(now: now) else { return sendCancel() }
        quiescenceTimer.arm(at: quiescence.endsAt, for: self) { consumer in
            if case .quiescing(let quiescence) = consumer.subscription {
                consumer.review(quiescence, consumer.loop.now.monotonic)
            }
        }
    }

    /// Returns to `running`, because the caller resumed the consumer before `basic.cancel` was sent. Resumes the tasks
    /// that wait in `stopConsuming`. Withheld settlements follow at the end of the event-loop iteration.
    func endQuiescence() {
        quiescenceTimer.cancel()
        subscription = .running
        channel.flushAfterIteration()
        stopWaiters.resume(returning: ())
    }

    func stopped(_ cause: AMQPError?) {
        subscription = .stopped(cause)
        stopWaiters.resume(returning: ())
    }

    /// Handles the cancellation by the broker, after the queue was deleted or lost its leader. The channel stays open,
    /// so unsettled deliveries can still be settled.
    func brokerEndedConsumer() {
        switch subscription {
        // In `stopping`, the answer to this side's `basic.cancel` follows.
        case .stopping, .stopped, .canceled: return
        case .starting, .running, .quiescing: break
        }
        quiescenceTimer.cancel()
        canceled(AMQPError(.consumerCancelled, "the broker ended the consumer of queue \(configuration.queue)"))
        updateDeadline()
        channel.flushAfterIteration()
        stopWaiters.resume(returning: ())
    }

    /// Interrupts the channel, and consumes again after a delay if the caller still wants deliveries.
    func canceled(_ error: AMQPError) {
        subscription = .canceled(error)
        guard let retryAt = channel.interrupted(error), case .canceled = subscription else { return }
        retryTimer.arm(at: retryAt, for: self) { $0.retry() }
    }

    private func retry() {
        guard case .canceled(let error) = subscription else { return }
        stopped(error)
        if wantsToConsume {
            consumeWhenSettled()
        } else {
            channel.setupCompleted()
            updateDeadline()
        }
    }

    /// Restarts the deadline if an answer to `basic.consume` or `basic.cancel` is due. Otherwise cancels the deadline.
    func updateDeadline() {
        channel.answered()
        switch subscription {
        case .starting, .stopping: channel.expectAnswer()
        case .stopped, .running, .quiescing, .canceled: break
        }
    }
}
