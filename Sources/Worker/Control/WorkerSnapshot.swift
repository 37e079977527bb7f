import AMQP
import APNS
import ControlProtocol
import Delivery
import Registrations

/// The status of a worker, and the status of each lane for the metrics.
struct WorkerSnapshot: Sendable {
    struct Lane: Sendable {
        var number: Int
        var makesProgress: Bool
        /// The status of the lane; nil if the lane was not queried or has not answered in time.
        var status: LaneStatus?
    }

    var status: WorkerStatus
    var lanes: [Lane]
    /// Lanes of retired generations that have not ended.
    var retired: [Lane]
}

extension WorkerStatus {
    /// Returns the open breakers of all lanes: for each route, the breaker that has been open longest.
    static func breakers(of lanes: [LaneStatus]) -> [OpenBreaker] {
        var breakers: [OpenBreaker] = []
        for breaker in lanes.flatMap(\.breakers) {
            guard let known = breakers.firstIndex(where: { $0.route == breaker.route }) else {
                breakers.append(OpenBreaker(breaker))
                continue
            }
            if breakers[known].secondsOpen < breaker.secondsOpen { breakers[known] = OpenBreaker(breaker) }
        }
        return breakers
    }

    /// Returns the limited apps of all lanes: each app once, with summed counts and the longest times.
    static func limitedApps(of lanes: [LaneStatus]) -> [LimitedApp] {
        var apps: [LimitedApp] = []
        for app in lanes.flatMap(\.limitedApps) {
            guard let known = apps.firstIndex(where: { $0.bundleID == app.bundleID }) else {
                apps.append(LimitedApp(app))
                continue
            }
            apps[known].inFlight += app.inFlight
            apps[known].waiting += app.waiting
            apps[known].secondsLimited = max(apps[known].secondsLimited, app.secondsLimited)
            apps[known].secondsBehind = max(apps[known].secondsBehind, app.secondsBehind)
        }
        return apps
    }
}

extension WorkerStatus.OpenBreaker {
    fileprivate init(_ breaker: LaneStatus.OpenBreaker) {
        self.init(
            route: breaker.route, code: breaker.code, sentence: breaker.sentence, secondsOpen: breaker.secondsOpen,
            apps: breaker.apps)
    }
}

extension WorkerStatus.LimitedApp {
    fileprivate init(_ app: LaneStatus.LimitedApp) {
        self.init(
            bundleID: app.bundleID, inFlight: app.inFlight, waiting: app.waiting, secondsLimited: app.secondsLimited,
            secondsBehind: app.secondsBehind)
    }
}

extension WorkerStatus.Queue {
    init(_ queue: QueueStatus, shardOf: String?) {
        self.init(name: queue.name, shardOf: shardOf, messages: queue.messages, consumers: queue.consumers)
    }
}

extension WorkerStatus.ChannelCommands {
    init(_ status: ChannelCommandConsumer.Status) {
        self.init(isConsuming: status.isConsuming, isReplying: status.isPublishing, reasons: status.reasons)
    }
}

extension WorkerStatus.Registrations {
    /// Creates the status of device registrations.
    ///
    /// - Parameters:
    ///   - status: nil if the consumer has not answered in time.
    ///   - dataKeys: The data keys of the configuration in force.
    init(_ status: RegistrationConsumer.Status?, dataKeys: [DataKeySummary]) {
        self.init(
            isConsuming: status?.isConsuming ?? false, isPublishing: status?.isPublishing ?? false,
            isStoring: status?.isStoring ?? false,
            reasons: status?.reasons ?? ["the consumer of registration commands has not answered in time"])
        self.dataKeys = dataKeys
    }
}

extension WorkerStatus.Lane {
    init(_ lane: WorkerSnapshot.Lane) {
        self.init(
            number: lane.number, makesProgress: lane.makesProgress,
            report: lane.status.map { WorkerStatus.LaneReport($0) })
    }
}

extension WorkerStatus.LaneReport {
    fileprivate init(_ lane: LaneStatus) {
        self.init()
        isReady = lane.state.isReady
        wantsRequests = lane.state.wantsRequests
        isDraining = lane.state.isDraining
        paused = lane.pauses
        inFlight = lane.inFlight
        unconfirmed = lane.unconfirmed
        unpublished = lane.unpublished
        publishingFailure = lane.state.publishingFailure
        queues = lane.queues.map {
            WorkerStatus.ConsumedQueue(name: $0.name, isConsumed: $0.isConsumed, unsettled: $0.unsettled)
        }
        pools = lane.pools.map { WorkerStatus.Pool($0) }
    }
}

extension WorkerStatus.Pool {
    fileprivate init(_ pool: PoolStatus) {
        self.init()
        host = pool.authority
        environment = pool.environment
        switch pool.credential {
        case .key(let id, let team): (keyID, teamID) = (id, team)
        case .certificate(let name): certificate = name
        }
        connections = pool.connections
        isConnected = pool.isConnected
        streams = pool.streams
        waiting = pool.waiting
        tokenAgeSeconds = pool.tokenAgeSeconds
    }
}
