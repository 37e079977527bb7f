import APNS
import EventLoop
import Telemetry

extension Lane {
    /// Records what a pool reports of its endpoint. The lane stops consuming while no endpoint accepts a connection: its
    /// requests could only be held. Its pools then connect without a push.
    func connectionChanged(_ index: Int, _ event: PoolEvent) {
        guard !state.isDraining else { return }
        let endpoint = breakers.endpoint(ofPool: index)
        switch event {
        case .connected, .certificateRefused: availability.accepted(endpoint, pool: index, loop.now.monotonic)
        case .cannotConnect(_, _, let since): missed(endpoint, since: since, index)
        case .lost(let isIdle): lost(endpoint, index, isIdle: isIdle)
        case .endedUnanswered: lost(endpoint, index, isIdle: false)
        }
        reviewAvailability()
    }

    /// A pool may wait before it connects again, which says nothing of the endpoint.
    private func lost(_ endpoint: Int, _ index: Int, isIdle: Bool) {
        guard !isConnected(to: endpoint) else { return }
        availability.lost(endpoint)
        // A certificate may be refused now. A connection that ended idle is not replaced.
        if !isIdle { pools[index].probe() }
    }

    private func missed(_ endpoint: Int, since: MonotonicTime, _ index: Int) {
        guard !isConnected(to: endpoint) else { return }
        availability.missed(endpoint, since: since)
        // Without a push that waits for it, nothing else would connect.
        if availability.state(loop.now.monotonic) != .available { pools[index].probe() }
    }

    private func reviewAvailability() {
        let now = loop.now.monotonic
        for endpoint in availability.oldAcceptances(now) where !isConnected(to: endpoint) {
            availability.lost(endpoint)
        }
        for endpoint in availability.beginTests(now) { test(endpoint) }
        let wasInterrupted = availabilityTimer != nil
        cancelAvailabilityReview()
        switch availability.state(now) {
        case .available:
            if wasInterrupted || unreachableSince != nil { stopProbing(pools.indices) }
            endUnreachable(now)
        case .interrupted(let until):
            availabilityTimer = loop.schedule(at: until) {
                self.assumeIsolated { $0.reviewAvailability() }
            }
        case .unreachable:
            beginUnreachable(now)
        }
        // They waited for the end of the interruption.
        scheduleMove()
    }

    func cancelAvailabilityReview() {
        if let timer = availabilityTimer.take() { loop.cancel(timer) }
    }

    private func beginUnreachable(_ now: MonotonicTime) {
        guard unreachableSince == nil else { return }
        unreachableSince = now
        state.isUnreachable = true
        wantsChanged()
        log.warning(.allRoutesHeld)
        for endpoint in 0..<breakers.endpointCount { test(endpoint) }
    }

    private func endUnreachable(_ now: MonotonicTime) {
        guard let since = unreachableSince.take() else { return }
        state.isUnreachable = false
        wantsChanged()
        log.info(.routesOpen, [.durationMilliseconds: .milliseconds(since.duration(to: now))])
    }

    private func test(_ endpoint: Int) {
        let indices = poolsAffected(by: .endpoint(endpoint))
        for index in availability.testingPools(of: endpoint, among: indices, random: loop.nextRandom()) {
            pools[index].probe()
        }
    }

    func stopProbing(_ indices: some Sequence<Int>) {
        for index in indices where !breakers.awaitsConnection(index) { pools[index].stopProbing() }
    }

    /// Whether any key has a connection: that shows that the endpoint is there.
    func isConnected(toEndpointOf index: Int) -> Bool { isConnected(to: breakers.endpoint(ofPool: index)) }

    private func isConnected(to endpoint: Int) -> Bool {
        poolsAffected(by: .endpoint(endpoint)).contains { pools[$0].isConnected }
    }
}
