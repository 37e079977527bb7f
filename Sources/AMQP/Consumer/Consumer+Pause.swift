public import EventLoop

extension Consumer {
    /// Stops consuming until `resume`. Deliveries that still arrive must be settled as usual. The channel stays ready,
    /// also after a reconnection.
    ///
    /// RabbitMQ counts a delivery as failed if the delivery is in transit when the consumer is canceled. To avoid this
    /// count, the consumer first withholds settlements for up to 250 ms. It cancels when no delivery is likely to be in
    /// transit.
    public func pause() {
        loop.assertOnLoop()
        wantsToConsume = false
        switch subscription {
        case .running: quiesce()
        case .stopped: if channel.isSetUp { channel.setupCompleted() }
        case .starting, .quiescing, .stopping, .canceled: break
        }
    }

    /// Consumes again after `pause` or `stopConsuming`. A new consumer starts only when no more than a quarter of the
    /// prefetch is unacknowledged.
    public func resume() {
        loop.assertOnLoop()
        wantsToConsume = true
        switch subscription {
        case .stopped(let cause):
            guard channel.isSetUp else { return }
            // `pause` made the channel ready, but the queue may still be missing.
            if let cause, status == .ready { canceled(cause) } else { consumeWhenSettled() }
        case .quiescing: endQuiescence()
        case .starting, .running, .stopping, .canceled: break
        }
    }

    /// Stops consuming, as `pause` does, and returns once no more deliveries can arrive, or after `deadlineSeconds`.
    /// Deliveries that arrive before the function returns must be settled as usual. The consumer stays stopped after a
    /// reconnection. A call of `resume` can end the wait early.
    public func stopConsuming(deadlineSeconds: Int? = nil) async {
        await stopConsuming(by: deadlineSeconds.map { loop.now.monotonic + .seconds($0) })
    }

    /// Stops consuming, with a deadline as a point in time; nil means no deadline.
    public func stopConsuming(by deadline: MonotonicTime?) async {
        loop.assertOnLoop()
        pause()
        switch subscription {
        case .stopped, .canceled: return
        case .starting, .running, .quiescing, .stopping: break
        }
        guard let deadline else { return await stopWaiters.wait() }
        if case .quiescing = subscription, deadline < loop.now.monotonic + Quiescence.longest { sendCancel() }
        await stopWaiters.wait(on: loop, for: loop.now.monotonic.duration(to: deadline)) { () }
    }
}
