import APNS
import APNSProtocol
import EventLoop
import Telemetry

extension Lane {
    /// Where no connection could be opened for so long, none is expected soon.
    private static let unreachableSecondsMax = 3

    func poolChanged(_ index: Int, _ event: PoolEvent) {
        let now = loop.now.monotonic
        switch event {
        case .connected:
            breakers.connected(index)
        case .certificateRefused(let refusal):
            breakers.refused(index, HoldReason(refusal), now)
            pools[index].stopProbing()
        case .cannotConnect(let error, _, let since) where isLasting(error, since):
            breakers.cannotConnect(index, isAlone: isConnected(toEndpointOf: index), HoldReason(error), now)
            // Also when answers had opened it before: nobody else would connect.
            pools[index].probe()
        case .endedUnanswered(let error, let connections) where connections >= EndpointEvidence.endedConnectionsMin:
            endedUnanswered(index, error)
        case .cannotConnect, .lost, .endedUnanswered:
            break
        }
        breakersChanged()
        connectionChanged(index, event)
    }

    private func endedUnanswered(_ index: Int, _ error: TransportError) {
        // It works on another connection.
        guard !pools[index].hasProvedItself else { return }
        breakers.endedUnanswered(index, HoldReason(endedUnanswered: error), loop.now.monotonic)
    }

    private func isLasting(_ error: TransportError, _ since: MonotonicTime) -> Bool {
        error.code == .certificate || since.duration(to: loop.now.monotonic) >= .seconds(Self.unreachableSecondsMax)
    }

    /// Carries out and logs what the breakers have done.
    func breakersChanged() {
        guard !breakers.changes.isEmpty else { return }
        let changes = breakers.changes
        breakers.changes = []
        for change in changes {
            switch change {
            case .opened(let place, let cause): opened(place, cause)
            case .probing(let place): log.info(.breakerProbing, [.route: .string(name(of: place))])
            case .closed(let place, let opening): closed(place, opening)
            }
        }
    }

    private func opened(_ place: BreakerScope, _ cause: HoldReason) {
        log.warning(
            .breakerOpened,
            [
                .route: .string(name(of: place)), .apnsReason: .string(cause.code), .error: .string(cause.sentence),
                .apps: .string(appsAffected(by: place)),
            ])
        // These requests are held like new ones. A pool has requests of other topics as well.
        if case .topic = place { return }
        for index in poolsAffected(by: place) { pools[index].giveBackWaiting() }
    }

    private func closed(_ place: BreakerScope, _ opening: Breaker.Opening) {
        // A lane that looks for an endpoint goes on to connect.
        if unreachableSince == nil, availabilityTimer == nil { stopProbing(poolsAffected(by: place)) }
        log.info(
            .breakerClosed,
            [
                .route: .string(name(of: place)), .apnsReason: .string(opening.cause.code),
                .apps: .string(appsAffected(by: place)),
                .durationMilliseconds: .milliseconds(opening.since.duration(to: loop.now.monotonic)),
            ])
    }

    func poolsAffected(by place: BreakerScope) -> [Int] {
        switch place {
        case .endpoint(let endpoint): pools.indices.filter { breakers.endpoint(ofPool: $0) == endpoint }
        case .credential(let pool): [pool]
        case .topic(let route): [route.pool]
        }
    }

    func name(of place: BreakerScope) -> String {
        guard let pool = poolsAffected(by: place).first.map({ pools[$0].configuration }) else { return "" }
        return switch place {
        case .endpoint: pool.authority
        case .credential: "\(pool.authority) \(pool.credential)"
        case .topic(let route): "\(pool.authority) \(pool.credential) topic \(configuration.apps.topic(of: route))"
        }
    }

    /// Some of them by name.
    private func appsAffected(by place: BreakerScope) -> String {
        let namesMax = 10
        let names = configuration.apps.bundleIDs(servedBy: poolsAffected(by: place))
        if case .topic(let route) = place { return configuration.apps.topic(of: route) }
        let rest = names.count > namesMax ? " and \(names.count - namesMax) more" : ""
        return names.prefix(namesMax).joined(separator: " ") + rest
    }
}
