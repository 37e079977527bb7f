import APNS
import APNSProtocol
import EventLoop
import Telemetry

extension RouteMonitor {
    /// The seconds of failed attempts to connect after which a breaker opens. After a certificate error, a breaker
    /// opens immediately.
    private static let unreachableSecondsMax = 3

    func updateBreakers(_ pool: Int, _ event: PoolEvent) {
        let now = loop.now.monotonic
        switch event {
        case .connected:
            dispatcher.breakers.connected(pool)
        case .certificateRefused(let refusal):
            dispatcher.breakers.refused(pool, HoldReason(refusal), now)
            dispatcher.pools[pool].stopProbing()
        case .cannotConnect(let error, _, let since) where isLasting(error, since):
            let endpoint = dispatcher.breakers.endpoint(ofPool: pool)
            dispatcher.breakers.cannotConnect(pool, isAlone: isConnected(to: endpoint), HoldReason(error), now)
            // Probe even if answers opened the breaker before, because no other event would open a connection.
            dispatcher.pools[pool].probe()
        case .endedUnanswered(let error, let connections) where connections >= EndpointEvidence.endedConnectionsMin:
            // Ignore the event while the credential works on another connection.
            if !dispatcher.pools[pool].isAuthenticated {
                dispatcher.breakers.endedUnanswered(pool, HoldReason(endedUnanswered: error), now)
            }
        case .cannotConnect, .lost, .endedUnanswered:
            break
        }
        applyBreakerChanges()
    }

    /// Probes the open breakers of a scope, by connecting now or by the next push of the route. Returns the number of
    /// breakers.
    func probeNow(_ scope: ProbeScope) -> Int {
        let openings = dispatcher.breakers.openings.filter { dispatcher.contains($0.scope, in: scope) }
        for (scope, opening) in openings {
            switch opening.probing {
            case .byMessage: dispatcher.breakers.probeNow(scope, loop.now.monotonic)
            case .byConnecting: for pool in dispatcher.pools(in: scope) { dispatcher.pools[pool].probe() }
            }
        }
        return openings.count
    }

    private func isLasting(_ error: TransportError, _ since: MonotonicTime) -> Bool {
        error.code == .certificate || since.duration(to: loop.now.monotonic) >= .seconds(Self.unreachableSecondsMax)
    }

    func applyBreakerChanges() {
        guard !dispatcher.breakers.changes.isEmpty else { return }
        for change in dispatcher.breakers.takeChanges() {
            switch change {
            case .opened(let scope, let reason): opened(scope, reason)
            case .probing(let scope): log.info(.breakerProbing, [.route: .string(dispatcher.name(of: scope))])
            case .closed(let scope, let opening): closed(scope, opening)
            }
        }
    }

    private func opened(_ scope: BreakerScope, _ reason: HoldReason) {
        log.warning(
            .breakerOpened,
            [
                .route: .string(dispatcher.name(of: scope)), .apnsReason: .string(reason.code),
                .error: .string(reason.sentence), .apps: .string(dispatcher.appsAffected(by: scope)),
            ])
        // Fail waiting pushes, so that they are held. A topic's pool also has pushes of other topics, so exempt topics.
        if case .topic = scope { return }
        for pool in dispatcher.pools(in: scope) { dispatcher.pools[pool].failWaiting() }
    }

    private func closed(_ scope: BreakerScope, _ opening: Breaker.Opening) {
        // While no endpoint is known to accept connections, the pools keep probing.
        if isAvailable { stopProbing(dispatcher.pools(in: scope)) }
        log.info(
            .breakerClosed,
            [
                .route: .string(dispatcher.name(of: scope)), .apnsReason: .string(opening.cause.code),
                .apps: .string(dispatcher.appsAffected(by: scope)),
                .durationMilliseconds: .milliseconds(opening.since.duration(to: loop.now.monotonic)),
            ])
    }
}
