import APNS
import EventLoop

/// A dispatcher that sends pushes through the connection pools if the breakers of their routes admit them.
///
/// Loop-bound.
final class PushDispatcher {
    private let loop: EventLoop
    /// The pools, indexed by the pool numbers of the apps.
    let pools: [APNSPool]
    let policy: OutcomePolicy
    let holds: HoldQueue
    var breakers: BreakerSet
    private let apps: AppDirectory
    /// The priority of each consumer's pushes; 0 is the highest.
    private let priorities: [Int]

    init(_ context: LaneContext) {
        let configuration = context.configuration
        loop = context.loop
        pools = zip(configuration.pools, context.connectors.apns).map { pool, connector in
            APNSPool(
                loop: context.loop, connector: connector, configuration: pool,
                tokens: context.tokens[pool.credential.name],
                metrics: context.counters.metrics(of: pool.credential.name, pool.environment), log: context.log)
        }
        policy = OutcomePolicy(schedule: configuration.schedule, resendsUnknown: configuration.resendsUnknown)
        holds = HoldQueue(loop: context.loop, laneCount: configuration.laneCount)
        breakers = BreakerSet(endpointOfPool: configuration.endpointOfPool)
        apps = configuration.apps
        priorities = configuration.priorities
    }

    func admit(_ route: Route) -> BreakerSet.Admission { breakers.admit(route, loop.now.monotonic) }

    func send(_ push: PendingPush, _ admission: AdmittedPush, _ record: DeliveryRecord) {
        record.stage = .pushing(
            InFlightPush(pending: push, admission: admission, sentAtMilliseconds: loop.now.unixMilliseconds))
        pools[admission.route.pool].send(
            push.request.push, priority: priorities[record.source],
            onFreshConnection: admission.needsFreshConnection, timing: record.trace?.push, record)
    }

    /// Records the outcome at the breakers and returns its consequence for the request.
    func record(_ outcome: PushOutcome, _ push: InFlightPush) -> BreakerSet.Consequence {
        breakers.record(
            outcome, of: push.pending.request.push.id, push.admission, loop.now.monotonic, random: loop.nextRandom())
    }

    /// Stops sending pushes. Pushes in flight still wait for their answers.
    func stopAccepting() {
        for pool in pools { pool.stopAccepting() }
    }

    func close() {
        for pool in pools { pool.close() }
    }
}

/// The pools and names of breaker scopes, and the breaker scopes of pauses.
extension PushDispatcher {
    func pools(in scope: BreakerScope) -> [Int] {
        switch scope {
        case .endpoint(let endpoint): pools.indices.filter { breakers.endpoint(ofPool: $0) == endpoint }
        case .credential(let pool): [pool]
        case .topic(let route): [route.pool]
        }
    }

    func name(of scope: BreakerScope) -> String {
        guard let pool = pools(in: scope).first.map({ pools[$0].configuration }) else { return "" }
        return switch scope {
        case .endpoint: pool.authority
        case .credential: "\(pool.authority) \(pool.credential)"
        case .topic(let route): "\(pool.authority) \(pool.credential) topic \(apps.topic(of: route))"
        }
    }

    /// Returns the bundle IDs of the apps that a breaker affects, at most ``LaneStatus/OpenBreaker/appsMax``.
    func apps(affectedBy scope: BreakerScope) -> [String] {
        if case .topic(let route) = scope { return [apps.bundleID(of: route)] }
        return Array(apps.bundleIDs(servedBy: pools(in: scope)).prefix(LaneStatus.OpenBreaker.appsMax))
    }

    /// Returns the topic of a topic scope. For any other scope, returns the bundle IDs of at most ten apps and the
    /// number of further apps.
    func appsAffected(by scope: BreakerScope) -> String {
        let namesMax = 10
        let names = apps.bundleIDs(servedBy: pools(in: scope))
        if case .topic(let route) = scope { return apps.topic(of: route) }
        let rest = names.count > namesMax ? " and \(names.count - namesMax) more" : ""
        return names.prefix(namesMax).joined(separator: " ") + rest
    }

    /// Returns whether a breaker is in the scope that an operator probes.
    func contains(_ breaker: BreakerScope, in scope: ProbeScope) -> Bool {
        switch scope {
        case .part(.everything): true
        case .part(let part): scopes(of: part).contains(breaker)
        case .endpoint(let authority):
            if case .endpoint = breaker { name(of: breaker) == authority } else { false }
        case .store: false
        }
    }

    func scopes(of scope: PauseScope) -> [BreakerScope] {
        switch scope {
        case .everything: []
        case .key, .certificate:
            pools.indices.filter { scope.matches(pools[$0].configuration.credential.name) }
                .map { .credential(pool: $0) }
        case .topic(let topic): apps.routes(of: topic).map { .topic($0) }
        }
    }
}
