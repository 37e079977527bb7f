import AMQP
import Delivery

/// The status of a worker, for operators.
struct WorkerStatus: Sendable {
    enum Phase: String, Sendable {
        /// Until the broker has all exchanges and queues that the worker needs.
        case starting
        case running
        case draining
    }

    struct Certificate: Sendable {
        var name: String
        /// End of its validity, in seconds since 1970.
        var notAfterSeconds: Int64
    }

    struct Lane: Sendable {
        var number: Int
        var isTurning: Bool
        /// nil: the lane has not answered in time.
        var status: LaneStatus?
    }

    /// Host, process ID and version.
    var worker: String
    var version: String
    var processID: Int
    var uptimeSeconds: Int
    var phase: Phase
    /// Why the worker is not ready. Empty: it is ready.
    var reasons: [String]
    /// What an operator has paused. Lanes that start later are paused too.
    var pauses: [String]
    /// The pauses with operator, reason and age.
    var pauseReports: [PauseReport] = []
    var lanes: [Lane]
    /// Lanes of earlier configurations, which settle the deliveries that they hold.
    var leaving: [Lane]
    var certificates: [Certificate]
    /// Host, port and virtual host of its queues.
    var broker: String
    /// Prefix of the names of its queues.
    var prefix: String
    /// The last answer of the broker. Empty: no answer yet.
    var queues: [QueueStatus]
    /// By shard: its request queue.
    var shardOf: [String: String] = [:]
    /// Age of `queues`. nil: no answer yet.
    var queuesSecondsOld: Int?
    /// nil: the worker accepts no channel commands. It does not affect `isReady`: pushes need no channel commands.
    var channels: ChannelService.Status?
    var totals: WorkerTotals
    var inFlight: Int
    var logLinesDropped: Int
    var spansDropped: Int

    var isReady: Bool { reasons.isEmpty }

    /// Open breakers of all lanes. For each route, the one that is open longest.
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

    /// Limited apps of all lanes, each app once, with the longest times of all lanes.
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
