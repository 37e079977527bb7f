import Delivery
package import Registrations

/// The status of a worker, which `/status` returns and `martlet status` shows.
///
/// Members that a worker of an earlier version does not report have the values of ``init(worker:)``.
package struct WorkerStatus: Sendable, Hashable {
    /// Host, process ID and version.
    package var worker: String
    package var version = "-"
    package var processID = 0
    package var uptimeSeconds = 0
    package var phase = Phase(rawValue: "-")
    package var isReady = false
    /// The reasons why the worker is not ready.
    package var reasons: [String] = []
    /// The number of deliveries in flight.
    package var inFlight = 0
    package var totals = WorkerTotals()
    /// The name of the broker: hosts, ports and virtual host. The virtual host `/` is omitted.
    package var broker = "-"
    /// Prefix of the names of the worker's queues; nil if the worker does not report the prefix.
    package var prefix: String?
    /// The worker's queues, from the broker's last report; empty before the first report and after the loss of the
    /// connection.
    package var queues: [Queue] = []
    /// Age of ``queues`` in seconds; nil if there is no report.
    package var queuesSecondsOld: Int?
    /// The state of channel commands; nil if the worker accepts no channel commands. The state does not affect
    /// ``isReady``, because pushes need no channel commands.
    package var channelCommands: ChannelCommands?
    /// The state of device registrations; nil if the worker has no store. The state does not affect ``isReady``,
    /// because requests to tokens need no store.
    package var registrations: Registrations?
    /// The state of fleet control; nil if the configuration lacks it. The state does not affect ``isReady``, because
    /// pushes need no fleet control.
    package var fleet: Fleet?
    /// The state of the journal; nil if the worker writes none.
    package var journal: Journal?
    /// Open breakers. Of breakers with the same scope in several lanes, only the one that has been open longest is
    /// reported.
    package var breakers: [OpenBreaker] = []
    /// Apps at their limits. An app of several lanes is reported once, with summed counts and the longest times.
    package var limitedApps: [LimitedApp] = []
    /// The scopes that an operator has paused. Lanes that start later are paused too.
    package var paused: [String] = []
    /// The pauses with operator, reason and age.
    package var pauses: [PauseReport] = []
    package var certificates: [Certificate] = []
    package var logLinesDropped = 0
    package var spansDropped = 0
    package var lanes: [Lane] = []
    /// Lanes of replaced or rolled-back configurations. These lanes settle their remaining deliveries.
    package var retiredLanes: [Lane] = []

    package init(worker: String) { self.worker = worker }
}

extension WorkerStatus {
    package struct Phase: RawRepresentable, Sendable, Hashable {
        package let rawValue: String

        /// The phase in which the worker waits for the pauses of the fleet, or for exchanges and queues at the broker.
        package static let starting = Self(rawValue: "starting")
        package static let running = Self(rawValue: "running")
        package static let draining = Self(rawValue: "draining")

        package init(rawValue: String) { self.rawValue = rawValue }
    }

    package struct Queue: Sendable, Hashable {
        package var name: String
        /// The queue of which this queue is a shard; nil if this queue is not a shard.
        package var shardOf: String?
        /// The number of ready messages, without unacknowledged deliveries.
        package var messages = 0
        package var consumers = 0

        package init(name: String, shardOf: String? = nil, messages: Int = 0, consumers: Int = 0) {
            self.name = name
            self.shardOf = shardOf
            self.messages = messages
            self.consumers = consumers
        }
    }

    package struct ChannelCommands: Sendable, Hashable {
        package var isConsuming = false
        package var isReplying = false
        /// The reasons why commands are not consumed or answered.
        package var reasons: [String] = []

        package init(isConsuming: Bool = false, isReplying: Bool = false, reasons: [String] = []) {
            self.isConsuming = isConsuming
            self.isReplying = isReplying
            self.reasons = reasons
        }
    }

    package struct Registrations: Sendable, Hashable {
        package var isConsuming = false
        /// Whether the connection that publishes events and replies works.
        package var isPublishing = false
        /// Whether the store accepts changes.
        package var isStoring = false
        /// The reasons why commands are not consumed, stored or answered.
        package var reasons: [String] = []
        /// The data keys in the key file that the worker has read.
        package var dataKeys: [DataKeySummary] = []

        package init(
            isConsuming: Bool = false, isPublishing: Bool = false, isStoring: Bool = false, reasons: [String] = []
        ) {
            self.isConsuming = isConsuming
            self.isPublishing = isPublishing
            self.isStoring = isStoring
            self.reasons = reasons
        }
    }

    package struct Journal: Sendable, Hashable {
        /// The number of the last batch that the broker has or may have; 0 before the first.
        package var sequence = 0
        package var linesPublished = 0
        package var linesDropped = 0
        /// The number of lines in batches that the broker may have.
        package var linesUnconfirmed = 0

        package init(
            sequence: Int = 0, linesPublished: Int = 0, linesDropped: Int = 0, linesUnconfirmed: Int = 0
        ) {
            self.sequence = sequence
            self.linesPublished = linesPublished
            self.linesDropped = linesDropped
            self.linesUnconfirmed = linesUnconfirmed
        }
    }

    package struct Fleet: Sendable, Hashable {
        /// The revision of the pauses that are in force; nil if the worker has read none.
        package var pausesRevision: Int?
        /// The reason why the pauses may be incomplete. nil if the worker has applied a record and reads the stream.
        package var reason: String?

        package init(pausesRevision: Int? = nil, reason: String? = nil) {
            self.pausesRevision = pausesRevision
            self.reason = reason
        }
    }

    package struct OpenBreaker: Sendable, Hashable {
        /// The scope of the breaker: the authority, then the credential and the topic if the scope is that narrow.
        package var route = "-"
        /// The reason code, as in dead letters.
        package var code = "-"
        /// The cause and a possible remedy.
        package var sentence = ""
        package var secondsOpen = 0
        /// The bundle IDs of some affected apps. Empty for the breaker of the store, and for earlier workers.
        package var apps: [String] = []

        package init(
            route: String = "-", code: String = "-", sentence: String = "", secondsOpen: Int = 0, apps: [String] = []
        ) {
            self.route = route
            self.code = code
            self.sentence = sentence
            self.secondsOpen = secondsOpen
            self.apps = apps
        }
    }

    package struct LimitedApp: Sendable, Hashable {
        package var bundleID = "-"
        /// The number of pushes in flight.
        package var inFlight = 0
        /// The number of requests that wait in the worker for a permit.
        package var waiting = 0
        package var secondsLimited = 0
        /// Seconds until the last scheduled slot of the requests that wait at the broker.
        package var secondsBehind = 0

        package init(
            bundleID: String = "-", inFlight: Int = 0, waiting: Int = 0, secondsLimited: Int = 0, secondsBehind: Int = 0
        ) {
            self.bundleID = bundleID
            self.inFlight = inFlight
            self.waiting = waiting
            self.secondsLimited = secondsLimited
            self.secondsBehind = secondsBehind
        }
    }

    package struct Certificate: Sendable, Hashable {
        package var name = "-"
        /// End of the validity, in seconds since 1970.
        package var notAfterSeconds: Int64 = 0

        package init(name: String = "-", notAfterSeconds: Int64 = 0) {
            self.name = name
            self.notAfterSeconds = notAfterSeconds
        }
    }
}

extension WorkerStatus {
    /// Each pause with its report. The report is nil for a worker of an earlier version. A scope that both the fleet
    /// and this worker pause occurs twice.
    package var scopesAndPauses: [(scope: String, report: PauseReport?)] {
        paused.flatMap { scope -> [(scope: String, report: PauseReport?)] in
            let reports = pauses.filter { $0.target == scope }
            return reports.isEmpty ? [(scope, nil)] : reports.map { (scope, $0) }
        }
    }

    /// Returns whether the worker consumes from the queues with this prefix at this broker. A worker that does not
    /// report its prefix matches every prefix.
    package func uses(broker: String, prefix: String) -> Bool {
        self.broker == broker && (self.prefix ?? prefix) == prefix
    }
}
