public import EventLoop

extension Consumer {
    /// Asks the broker for no more deliveries until `resume`. Those that come nevertheless are to be settled as ever; the
    /// channel stays ready, also across a lost connection.
    ///
    /// The broker is asked when nothing is in transit, so that no delivery counts as failed: settlements are withheld for up
    /// to 250 ms.
    public func pause() {
        loop.assertOnLoop()
        wantsToConsume = false
        switch subscription {
        case .running: quiesce()
        case .stopped: if channel.isSetUp { channel.setupCompleted() }
        case .starting, .quiescing, .stopping, .canceled: break
        }
    }

    /// Takes deliveries again after `pause` or `stopConsuming`: once no more are unsettled than a quarter of the prefetch.
    public func resume() {
        loop.assertOnLoop()
        wantsToConsume = true
        switch subscription {
        case .stopped(let cause):
            guard channel.isSetUp else { return }
            // `pause` has made the channel ready, and the queue may still be missing.
            if let cause, status == .ready { canceled(cause) } else { consumeWhenSettled() }
        case .quiescing: endQuiescence()
        case .starting, .running, .stopping, .canceled: break
        }
    }

    /// Asks the broker for no more deliveries, as `pause` does, and returns when none can come any more, or after
    /// `deadlineSeconds`. Those that came, also while this waited, are to be settled as ever. Across a lost connection it
    /// stays stopped.
    public func stopConsuming(deadlineSeconds: Int? = nil) async {
        await stopConsuming(by: deadlineSeconds.map { loop.now.monotonic + .seconds($0) })
    }

    /// As `stopConsuming(deadlineSeconds:)`, to a point in time.
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
