import APNS
import EventLoop
import Telemetry

/// A monitor of the routes of a lane. From the events of the pools, it opens and closes breakers, and determines
/// whether any endpoint accepts connections.
///
/// Loop-bound.
final class RouteMonitor {
    /// The availability of the endpoints.
    private enum Status {
        case available
        /// An interruption, in which no endpoint is known to accept connections. The timer reviews the status at the
        /// end of the grace period.
        case interrupted(TimerToken)
        case unreachable(since: MonotonicTime)
    }

    let dispatcher: PushDispatcher
    let loop: EventLoop
    let log: Log
    private var availability: RouteAvailability
    private var status = Status.available

    init(_ dispatcher: PushDispatcher, _ context: LaneContext) {
        (self.dispatcher, loop, log) = (dispatcher, context.loop, context.log)
        availability = RouteAvailability(endpointCount: dispatcher.breakers.endpointCount)
    }

    var isUnreachable: Bool {
        if case .unreachable = status { true } else { false }
    }

    var isInterrupted: Bool {
        if case .interrupted = status { true } else { false }
    }

    var isAvailable: Bool {
        if case .available = status { true } else { false }
    }

    func poolEventReceived(_ pool: Int, _ event: PoolEvent, in pipeline: DeliveryPipeline) {
        updateBreakers(pool, event)
        updateAvailability(pool, event, in: pipeline)
    }

    /// Updates the availability after an event of a pool. While no endpoint accepts a connection, the lane does not
    /// consume from its request queues, since it could only hold the requests. Some pools then connect without a push.
    private func updateAvailability(_ pool: Int, _ event: PoolEvent, in pipeline: DeliveryPipeline) {
        guard !pipeline.lifecycle.isDraining else { return }
        let endpoint = dispatcher.breakers.endpoint(ofPool: pool)
        switch event {
        case .connected, .certificateRefused: availability.accepted(endpoint, pool: pool, loop.now.monotonic)
        case .cannotConnect(_, _, let since): missed(endpoint, since: since, pool)
        case .lost(let isIdle): lost(endpoint, pool, isIdle: isIdle)
        case .endedUnanswered: lost(endpoint, pool, isIdle: false)
        }
        review(in: pipeline)
    }

    /// Handles a lost connection. A pool may wait before it reconnects. The wait is no evidence about the endpoint.
    private func lost(_ endpoint: Int, _ pool: Int, isIdle: Bool) {
        guard !isConnected(to: endpoint) else { return }
        availability.lost(endpoint)
        // Probe, since the server may refuse the certificate now. A connection that closed while idle is not replaced.
        if !isIdle { dispatcher.pools[pool].probe() }
    }

    private func missed(_ endpoint: Int, since: MonotonicTime, _ pool: Int) {
        guard !isConnected(to: endpoint) else { return }
        availability.missed(endpoint, since: since)
        // If no push waits for a connection, no other event would open a connection.
        if availability.state(loop.now.monotonic) != .available { dispatcher.pools[pool].probe() }
    }

    private func review(in pipeline: DeliveryPipeline) {
        let now = loop.now.monotonic
        for endpoint in availability.oldAcceptances(now) where !isConnected(to: endpoint) {
            availability.lost(endpoint)
        }
        for endpoint in availability.beginTests(now) { test(endpoint) }
        let wasAvailable = isAvailable
        cancelReview()
        switch availability.state(now) {
        case .available:
            if !wasAvailable { stopProbing(dispatcher.pools.indices) }
            endUnreachable(now, in: pipeline)
        case .interrupted(let until):
            interrupt(until: until, in: pipeline)
        case .unreachable:
            beginUnreachable(now, in: pipeline)
        }
        // Held requests wait until an interruption ends.
        pipeline.moveHeld()
    }
}

extension RouteMonitor {
    func cancelReview() {
        guard case .interrupted(let timer) = status else { return }
        loop.cancel(timer)
        status = .available
    }

    private func interrupt(until time: MonotonicTime, in pipeline: DeliveryPipeline) {
        guard !isUnreachable else { return }
        status = .interrupted(loop.schedule(at: time) { [self] in review(in: pipeline) })
    }

    private func beginUnreachable(_ now: MonotonicTime, in pipeline: DeliveryPipeline) {
        guard !isUnreachable else { return }
        status = .unreachable(since: now)
        pipeline.updateDemand()
        log.warning(.allRoutesHeld)
        for endpoint in 0..<dispatcher.breakers.endpointCount { test(endpoint) }
    }

    private func endUnreachable(_ now: MonotonicTime, in pipeline: DeliveryPipeline) {
        guard case .unreachable(let since) = status else { return }
        status = .available
        pipeline.updateDemand()
        log.info(.routesOpen, [.durationMilliseconds: .milliseconds(since.duration(to: now))])
    }

    private func test(_ endpoint: Int) {
        let pools = dispatcher.pools(in: .endpoint(endpoint))
        for pool in availability.testingPools(of: endpoint, among: pools, random: loop.nextRandom()) {
            dispatcher.pools[pool].probe()
        }
    }

    func stopProbing(_ pools: some Sequence<Int>) {
        for pool in pools where !dispatcher.breakers.awaitsConnection(pool) { dispatcher.pools[pool].stopProbing() }
    }

    /// Returns whether any pool has a connection to the endpoint, which proves that the endpoint accepts connections.
    func isConnected(to endpoint: Int) -> Bool {
        dispatcher.pools(in: .endpoint(endpoint)).contains { dispatcher.pools[$0].isConnected }
    }
}
