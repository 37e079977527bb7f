import AMQP
import Delivery

/// How a worker stands, for operators.
struct WorkerStatus: Sendable {
    enum Phase: String, Sendable {
        /// Until the broker is there with all that the worker needs.
        case starting
        case running
        case draining
    }

    struct Certificate: Sendable {
        var name: String
        /// When it ends, since 1970.
        var notAfterSeconds: Int64
    }

    struct Lane: Sendable {
        var number: Int
        var isTurning: Bool
        /// nil when it has not answered in time.
        var status: LaneStatus?
    }

    /// Host, process and version.
    var worker: String
    var version: String
    var processID: Int
    var uptimeSeconds: Int
    var phase: Phase
    /// Why it is not ready; none when it is.
    var reasons: [String]
    /// What an operator has paused; lanes that have not begun will know it then.
    var pauses: [String]
    /// The same with who, why and since when.
    var pauseReports: [PauseReport] = []
    var lanes: [Lane]
    /// Those of configurations before this one that settle what they hold.
    var leaving: [Lane]
    var certificates: [Certificate]
    /// Where its queues are.
    var broker: String
    /// First part of the names of its queues.
    var prefix: String
    /// As the broker said last; none before it has.
    var queues: [QueueStatus]
    /// The queue of requests, for those of `queues` that are shards of one.
    var shardOf: [String: String] = [:]
    /// How long ago; nil before it has.
    var queuesSecondsOld: Int?
    /// nil: it takes no commands for broadcast channels. Pushes go on without it: whether the worker is ready is another
    /// matter.
    var channels: ChannelService.Status?
    var totals: WorkerTotals
    var inFlight: Int
    var logLinesDropped: Int
    var spansDropped: Int

    var isReady: Bool { reasons.isEmpty }

    /// Those of all lanes, each route once: the one that is open longest.
    var breakers: [LaneStatus.OpenBreaker] {
        var breakers: [LaneStatus.OpenBreaker] = []
        for breaker in lanes.flatMap({ $0.status?.breakers ?? [] }) {
            let known = breakers.firstIndex { $0.route == breaker.route }
            guard let known else {
                breakers.append(breaker)
                continue
            }
            if breakers[known].secondsOpen < breaker.secondsOpen { breakers[known] = breaker }
        }
        return breakers
    }

    /// Those of all lanes, each app once: as long limited as in the lane where it is so longest, and as far behind.
    var limitedApps: [LaneStatus.LimitedApp] {
        var apps: [LaneStatus.LimitedApp] = []
        for app in lanes.flatMap({ $0.status?.limitedApps ?? [] }) {
            guard let known = apps.firstIndex(where: { $0.bundleID == app.bundleID }) else {
                apps.append(app)
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
