import AMQP
import APNS
import EventLoop
import Telemetry

extension Lane {
    /// To be called when a breaker opened or closed, and when a message was held.
    func reviewHolding() {
        let now = loop.now.monotonic
        // While nothing is taken, no route is used: what was in use when that began is.
        let areAllHeld = routeUse.areAllHeld(by: breakers, at: holding.since ?? now)
        switch holding.since {
        case nil where areAllHeld: beginHolding(now)
        case _? where !areAllHeld: endHolding(now)
        default: scheduleLook()
        }
        if cutOffSince != nil { reviewConnections() }
    }

    /// A push was let through: when no probe, its route has not been held up, so that messages can be taken.
    func admitted(_ pass: Breakers.Pass) {
        guard holding.since != nil else { return }
        holding.wasAdmitted = true
        if !pass.isProbe { endHolding(loop.now.monotonic) }
    }

    private func beginHolding(_ now: MonotonicTime) {
        holding.since = now
        state.areAllRoutesHeld = true
        wantsChanged()
        log.warning(.allRoutesHeld)
        scheduleLook()
    }

    private func endHolding(_ now: MonotonicTime) {
        guard let since = holding.since else { return }
        holding.since = nil
        cancelLook()
        state.areAllRoutesHeld = false
        wantsChanged()
        log.info(.routesOpen, [.durationMilliseconds: .milliseconds(since.duration(to: now))])
    }

    private func scheduleLook() {
        guard holding.since != nil, !holding.isLooking, !state.isDraining, !state.isPaused else { return }
        cancelLook()
        let time = holding.nextLook(probeDue: breakers.nextProbeDue, loop.now.monotonic)
        holding.timer = loop.schedule(at: time) {
            self.assumeIsolated { lane in
                lane.holding.timer = nil
                lane.holding.lookBegan()
                Task(executorPreference: lane.loop) { await self.look() }
            }
        }
    }

    func cancelLook() {
        if let timer = holding.timer { loop.cancel(timer) }
        holding.timer = nil
    }

    /// Takes messages one by one until one is let through as the probe that is due.
    private func look() async {
        var left = Holding.looksMax
        while left > 0, holding.since != nil, !holding.wasAdmitted, state.wantsQuarantine {
            left -= 1
            guard let record = await takeOne() else { break }
            deliver(record)
            await untilEnded(record)
            guard let due = breakers.nextProbeDue, due <= loop.now.monotonic else { break }
        }
        holding.lookEnded(loop.now.monotonic)
        reviewHolding()
    }

    /// As long as what it leads to cannot be published, no other is to be taken.
    private func untilEnded(_ record: DeliveryRecord) async {
        guard holds(record) else { return }
        await withUnsafeContinuation { record.whenEnded = $0 }
    }

    /// From each request queue in turn. A broker gives nothing so from a queue with a single active consumer, such as the
    /// quarantine.
    private func takeOne() async -> DeliveryRecord? {
        let count = configuration.requestQueues.count
        for _ in 0..<count {
            let source = holding.nextSource % count
            holding.nextSource = source + 1
            if let delivery = await consumers[source].get() {
                return DeliveryRecord(of: delivery, from: source, loop.now)
            }
        }
        return nil
    }

    /// Asks the broker for messages, or no longer, as the state says.
    func wantsChanged() {
        stateChanged()
        for (source, consumer) in consumers.enumerated() {
            let isWanted = isQuarantine(source) ? state.wantsQuarantine : state.wantsMessages
            if isWanted { consumer.resume() } else { consumer.pause() }
        }
    }
}
