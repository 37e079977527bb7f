import AMQP
import APNS
import EventLoop

extension DeliveryPipeline {
    var state: LaneState {
        var state = LaneState()
        state.isDraining = lifecycle.isDraining || lifecycle == .finishing
        state.isPaused = lifecycle == .paused
        state.publishingFailure = retrier.flow.failure
        state.isUnreachable = routes.isUnreachable
        state.isConsuming = session.consumption == .up
        if case .down(let reason) = session.consumption { state.consumingFailure = reason }
        state.isPublishing = session.publication == .up
        if case .down(let reason) = session.publication { state.brokerFailure = reason }
        return state
    }

    func start() {
        for (index, pool) in dispatcher.pools.enumerated() { pool.start(PoolEvents(of: index, in: self)) }
        expander?.finder.start()
        session.start(for: self)
    }

    func stateChanged() { onStateChange(state) }

    /// Reports the state of the lane, and starts or stops consuming accordingly.
    func updateDemand() {
        stateChanged()
        session.setDemand(
            LaneDemand(lifecycle, isStuck: retrier.flow.isStuck, isUnreachable: routes.isUnreachable))
    }

    /// Handles a status change of a connection or channel.
    ///
    /// - Parameter isConnection: true if the connection changed; false if a channel on the connection changed.
    func sessionStatusChanged(_ changed: BrokerStatus, _ purpose: BrokerSession.Purpose, isConnection: Bool) {
        session.update(changed, purpose, isConnection: isConnection)
        stateChanged()
        session.logOutages()
    }

    func channelLost(_ source: Int) {
        duplicates.channelLost(source)
        deliverParked()
    }

    /// Pauses or resumes a scope.
    ///
    /// - Returns: false if the lane does not have the key, certificate or topic of the scope.
    func pause(_ scope: PauseScope, _ isPaused: Bool) -> Bool {
        switch scope {
        case .everything:
            if lifecycle.isPausable { lifecycle = isPaused ? .paused : .running }
            updateDemand()
            return true
        case .key, .certificate, .topic:
            let scopes = dispatcher.scopes(of: scope)
            for scope in scopes { dispatcher.breakers.pause(scope, isPaused) }
            return !scopes.isEmpty
        }
    }

    /// Probes the open breakers of a scope now. Returns the number of breakers.
    func probeNow(_ scope: ProbeScope) -> Int {
        let routeCount = routes.probeNow(scope)
        guard scope == .store || scope == .part(.everything), let expander else { return routeCount }
        return routeCount + (expander.finder.probeNow() ? 1 : 0)
    }

    /// Whether deliveries are in flight, or not yet acknowledged, rejected or requeued, such as parked deliveries.
    var hasDeliveries: Bool { deliveries.count > 0 || session.unsettledCount > 0 }

    /// Begins to finish. Does nothing if a drain has begun.
    func replaced() {
        guard lifecycle.isPausable else { return }
        lifecycle = .finishing
        updateDemand()
    }

    /// Begins a drain. Returns false if a drain has already begun.
    func stop() -> Bool {
        guard !lifecycle.isDraining else { return false }
        lifecycle = .stopping
        stateChanged()
        routes.cancelReview()
        // The canceled review would have moved the held requests.
        moveHeld()
        deliveries.idle.resume(returning: ())
        return true
    }

    /// Moves or requeues all requests that have not been pushed, and requeues deliveries that still arrive. To be
    /// called after the consumers have stopped, or when they have not stopped in time.
    func leave() {
        if lifecycle != .ended { lifecycle = .leaving }
        deliverParked()
        moveAllHeld()
        permits.requeueWaiting(in: self)
        expander?.requeueWaiting()
        dispatcher.stopAccepting()
    }

    /// Ends the lane, which publishes nothing from now on.
    func end() {
        lifecycle = .ended
        deliveries.idle.resume(returning: ())
    }
}

/// A handler that forwards the events of one pool to the route monitor.
private final class PoolEvents: PoolHandler {
    private let pool: Int
    private let pipeline: DeliveryPipeline

    init(of pool: Int, in pipeline: DeliveryPipeline) { (self.pool, self.pipeline) = (pool, pipeline) }

    override func received(_ event: PoolEvent) { pipeline.routes.poolEventReceived(pool, event, in: pipeline) }
}
