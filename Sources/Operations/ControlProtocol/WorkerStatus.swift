import Delivery

/// The status of a worker, as `/status` returns it and `martlet status` shows it.
///
/// Members that a worker of an earlier version does not report have the values of ``init(worker:)``.
struct WorkerStatus: Sendable, Hashable {
    /// Host, process ID and version.
    var worker: String
    var version = "-"
    var processID = 0
    var uptimeSeconds = 0
    var phase = Phase(rawValue: "-")
    var isReady = false
    /// Why the worker is not ready.
    var reasons: [String] = []
    /// Deliveries that are not settled.
    var inFlight = 0
    var totals = WorkerTotals()
    /// Host, port and virtual host of the worker's queues.
    var broker = "-"
    /// Prefix of the names of the worker's queues. nil: the worker does not report it.
    var prefix: String?
    /// As the broker last reported them. Empty: no report yet.
    var queues: [Queue] = []
    /// Age of ``queues``. nil: no report yet.
    var queuesSecondsOld: Int?
    /// nil: the worker accepts no channel commands. They do not affect ``isReady``: pushes need no channel commands.
    var channelCommands: ChannelCommands?
    /// Open breakers. A breaker of several lanes is reported once, with its longest time.
    var breakers: [OpenBreaker] = []
    /// Apps at their limits. An app of several lanes is reported once, with its longest times.
    var limitedApps: [LimitedApp] = []
    /// What an operator has paused. Lanes that start later are paused too.
    var paused: [String] = []
    /// The pauses with operator, reason and age.
    var pauses: [PauseReport] = []
    var certificates: [Certificate] = []
    var logLinesDropped = 0
    var spansDropped = 0
    var lanes: [Lane] = []
    /// Lanes of earlier configurations, which settle the deliveries that they hold.
    var retiredLanes: [Lane] = []

    init(worker: String) { self.worker = worker }
}

extension WorkerStatus {
    struct Phase: RawRepresentable, Sendable, Hashable {
        let rawValue: String

        /// Until the broker has all exchanges and queues that the worker needs.
        static let starting = Self(rawValue: "starting")
        static let running = Self(rawValue: "running")
        static let draining = Self(rawValue: "draining")
    }

    struct Queue: Sendable, Hashable {
        var name: String
        /// The queue of which this queue is a shard.
        var shardOf: String?
        /// Messages that are ready: not those that consumers hold.
        var messages = 0
        var consumers = 0
    }

    struct ChannelCommands: Sendable, Hashable {
        var isConsuming = false
        var isReplying = false
        /// Why commands are not consumed or answered.
        var reasons: [String] = []
    }

    struct OpenBreaker: Sendable, Hashable {
        /// Host, key and topic, as far as the breaker reaches.
        var route = "-"
        /// One word, as in dead letters.
        var code = "-"
        /// The cause, and what may remove it.
        var sentence = ""
        var secondsOpen = 0
    }

    struct LimitedApp: Sendable, Hashable {
        var bundleID = "-"
        /// The app's pushes without an outcome.
        var inFlight = 0
        /// The app's requests that wait in the worker for a permit.
        var waiting = 0
        var secondsLimited = 0
        /// Until the last of the requests that wait at the broker is due.
        var secondsBehind = 0
    }

    struct Certificate: Sendable, Hashable {
        var name = "-"
        /// End of the validity, in seconds since 1970.
        var notAfterSeconds: Int64 = 0
    }
}

extension WorkerStatus {
    /// Whether the worker consumes from the queues with this prefix at this broker, as far as it reports them.
    func uses(broker: String, prefix: String) -> Bool {
        self.broker == broker && (self.prefix ?? prefix) == prefix
    }
}
