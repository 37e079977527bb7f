import AMQP
import BrokerTopology
import Configuration
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import Glibc
import Telemetry
import Threads

/// The log lines of a worker's start, configuration changes and end, with their counters.
struct WorkerLog {
    private let log: Log
    private let metrics: MetricsRegistry
    private let changes: ReloadCounters
    /// The configuration at the start. Changes of some settings need a restart.
    private let startedWith: WorkerConfiguration

    init(_ configuration: WorkerConfiguration, in environment: LaneEnvironment) {
        (log, metrics, startedWith) = (environment.log, environment.metrics, configuration)
        changes = ReloadCounters(metrics, of: "configuration")
    }

    func starting(_ group: LaneGroup) {
        let endpoints = startedWith.broker.url.endpoints.map(\.description)
        log.info(
            .workerStarting,
            [
                .processVersion: .string(MartletVersion.current), .processID: .integer(Int(getpid())),
                .lanes: .integer(group.lanes.count), .amqpQueue: .string(group.components.lane.names.requestQueues[0]),
                .amqpHost: .string(endpoints.joined(separator: ",")),
            ])
    }

    static func cannotStart(_ error: any Error, _ log: Log) {
        let reason =
            switch error {
            case let error as CryptoError: error.message
            case let error as TransportError: error.message
            case let error as ThreadError: error.message
            default: "\(error)"
            }
        log.error(.workerCannotStart, [.error: .string(reason)])
    }

    func lanesWithoutThread(_ reason: String) { log.error(.laneWithoutThread, [.error: .string(reason)]) }

    func signalled(_ signal: StopSignal) {
        let name =
            switch signal {
            case .interrupt: "SIGINT"
            case .terminate: "SIGTERM"
            }
        log.info(.workerSignalled, [.processSignal: .string(name)])
    }

    /// Logs a change of the group's readiness.
    ///
    /// - Parameter lane: the lane whose report caused the change.
    func readiness(of group: LaneGroup, lane: Int) {
        guard !group.readiness.isReady else {
            return log.info(
                .workerReady,
                [
                    .lanes: .integer(group.lanes.count),
                    .amqpQueue: .string(group.components.lane.names.requestQueues[0]),
                ])
        }
        let reasons = group.readiness.reasons.joined(separator: "; ")
        log.warning(.workerNotReady, [.lane: .integer(lane), .error: .string(reasons)])
    }

    func draining() { log.info(.workerDraining, [.inFlight: .integer(inFlight)]) }

    private var inFlight: Int { metrics.level(of: "martlet_inflight") }

    func stopped(_ exit: WorkerExit) {
        let totals = WorkerTotals(metrics)
        func count(_ outcome: Outcome) -> LogValue { .integer(totals.ended(outcome)) }
        log.info(
            .workerStopped,
            [
                .processExitCode: .integer(Int(exit.rawValue)),
                .delivered: .integer(totals.taken),
                .accepted: count(.accepted), .rejected: count(.rejected), .expired: count(.expired),
                .invalid: count(.invalid), .unknown: count(.unknown),
                .retried: .integer(totals.retried), .held: .integer(totals.held),
                .quarantined: .integer(totals.quarantined), .deadLetters: .integer(totals.deadLetters),
                .requeued: .integer(totals.requeued), .duplicates: .integer(totals.duplicates),
                .publishRepeats: .integer(totals.publishRepeats),
                .unknownOutcomes: .integer(totals.unknownOutcomes),
                .inFlight: .integer(inFlight), .memoryBytes: .integer(peakMemoryBytes),
            ])
        log.flush()
    }

    private var peakMemoryBytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }
}

/// Configuration changes.
extension WorkerLog {
    /// Counts a change when it is put in force. The log line may follow later.
    func changed() { changes.taken.add() }

    func announce(_ group: LaneGroup, unixSeconds: Int64) {
        let configuration = group.configuration
        log.info(
            .configurationReloaded,
            [.lanes: .integer(group.lanes.count), .apps: .integer(configuration.apps.count)])
        group.certificateReport.write(to: log, unixSeconds: unixSeconds)
        let settings = startedWith.settingsThatNeedARestart(for: configuration)
        if !settings.isEmpty {
            log.warning(.restartNeeded, [.settings: .string(settings.joined(separator: ", "))])
        }
    }

    func postponed() { log.warning(.configurationWaits) }

    func delayed(_ reason: String) {
        changes.refused.add()
        log.warning(.configurationDelayed, [.error: .string(reason)])
    }

    func rejected(_ reason: String) {
        changes.refused.add()
        log.error(.configurationRefused, [.error: .string(reason)])
    }

    func ended(_ group: LaneGroup) { log.info(.lanesStopped, [.lanes: .integer(group.lanes.count)]) }
}

extension WorkerConfiguration {
    /// Returns the changed settings that a worker reads only at its start.
    fileprivate func settingsThatNeedARestart(for new: WorkerConfiguration) -> [String] {
        [("admin", admin != new.admin), ("tracing", tracing != new.tracing), ("log.level", logLevel != new.logLevel)]
            .filter(\.1).map(\.0)
    }
}
