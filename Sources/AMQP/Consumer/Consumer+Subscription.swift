import EventLoop

extension Consumer {
    /// The part of a prefetch that may be unsettled when the next consumer begins, with a prefetch of its own.
    private static let oldShareMax = 4

    /// A consumer keeps the prefetch that it began with, and what was delivered to those before it does not count for it. So
    /// that the unsettled deliveries are bounded by a prefetch and a quarter, the next one begins once most are settled.
    func consumeWhenSettled() {
        if window.unacknowledgedCount <= prefetch / Self.oldShareMax { sendConsume() }
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

    /// What was withheld follows at the end of the iteration.
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

    /// Deliveries are wanted again before the broker was asked for no more.
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

    /// The queue was deleted, or its leader was lost: the channel stays, and with it what is unsettled.
    func brokerEndedConsumer() {
        switch subscription {
        // The answer to our own cancel follows.
        case .stopping, .stopped, .canceled: return
        case .starting, .running, .quiescing: break
        }
        quiescenceTimer.cancel()
        canceled(AMQPError(.consumerCancelled, "the broker ended the consumer of queue \(configuration.queue)"))
        updateDeadline()
        channel.flushAfterIteration()
        stopWaiters.resume(returning: ())
    }

    /// Consumes again after a delay.
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

    /// The deadline is for whatever is asked of the broker.
    func updateDeadline() {
        channel.answered()
        switch subscription {
        case .starting, .stopping: channel.expectAnswer()
        case .stopped, .running, .quiescing, .canceled: break
        }
    }
}
