import AMQP
import APNSProtocol
import BrokerManagement
import BrokerTopology
import Configuration
import ControlProtocol
import Delivery
import EventLoop
import Glibc
import Registrations
import Telemetry

/// A collector of the worker's status. Runs on the control loop.
final class StatusCollector {
    private let environment: LaneEnvironment
    private let groups: LaneGroups
    private let broker: BrokerInspector
    private let pauses: PauseControl
    private let fleet: FleetPauses
    private let journal: FleetJournal
    private let startedAt: MonotonicTime

    init(
        _ groups: LaneGroups, _ broker: BrokerInspector, _ pauses: PauseControl, _ fleet: FleetPauses,
        _ journal: FleetJournal, in environment: LaneEnvironment
    ) {
        (self.groups, self.broker, self.pauses, self.environment) = (groups, broker, pauses, environment)
        (self.fleet, self.journal) = (fleet, journal)
        startedAt = environment.loop.now.monotonic
    }

    /// Queries the consumer of registration commands, the lanes in force and the retired lanes, then calls `answer`
    /// with the status.
    func collect(_ phase: WorkerStatus.Phase, _ answer: @escaping (WorkerSnapshot) -> Void) {
        let groups = [groups.inForce] + groups.retired
        let report: ([StatusSource.Answer?]) -> Void = { [self] answers in
            var rest = answers[...]
            let registrations = (rest.popFirst() ?? nil)?.registrations
            let lanes = groups.map { group in
                group.lanes.indices.map { index in
                    WorkerSnapshot.Lane(
                        number: index, makesProgress: !group.stalled.contains(index),
                        status: (rest.popFirst() ?? nil)?.lane)
                }
            }
            let retired = zip(groups, lanes).dropFirst().flatMap { group, lanes in
                lanes.filter { !group.lanes[$0.number].hasEnded }
            }
            var status = status(phase, of: groups[0], lanes[0], retired: retired)
            if groups[0].registrations != nil, let settings = groups[0].configuration.registrations {
                status.registrations = WorkerStatus.Registrations(
                    registrations, dataKeys: (try? settings.keys.dataKeySummaries()) ?? [])
            }
            answer(WorkerSnapshot(status: status, lanes: lanes[0], retired: retired))
        }
        let sources =
            [groups[0].registrations.map { StatusSource.registrations($0) }]
            + groups.flatMap(\.responsive).map { $0.map { StatusSource.lane($0) } }
        LaneQuery.send(to: sources, on: environment.loop, { $0.query($1) }, then: report)
    }

    private func status(
        _ phase: WorkerStatus.Phase, of group: LaneGroup, _ lanes: [WorkerSnapshot.Lane],
        retired: [WorkerSnapshot.Lane]
    ) -> WorkerStatus {
        let (metrics, names) = (environment.metrics, group.components.lane.names)
        let now = environment.loop.now
        var status = WorkerStatus(worker: group.components.lane.worker)
        status.version = MartletVersion.current
        status.processID = Int(getpid())
        status.uptimeSeconds = Int(startedAt.duration(to: now.monotonic).components.seconds)
        status.phase = phase
        status.reasons = reasons(of: group)
        status.isReady = status.reasons.isEmpty
        status.inFlight = metrics.level(of: "martlet_inflight")
        status.totals = WorkerTotals(metrics)
        status.broker = group.components.brokerConnector.name
        status.prefix = names.prefix
        let shards = names.queueByShard
        status.queues = (broker.queues?.latest ?? []).map { WorkerStatus.Queue($0, shardOf: shards[$0.name]) }
        status.queuesSecondsOld = broker.queues?.secondsOld
        status.channelCommands = group.channels.map { WorkerStatus.ChannelCommands($0.status) }
        status.fleet = fleet.status
        status.journal = journal.status
        status.breakers = WorkerStatus.breakers(of: lanes.compactMap(\.status))
        status.limitedApps = WorkerStatus.limitedApps(of: lanes.compactMap(\.status))
        status.paused = pauses.scopes.map(\.description)
        status.pauses = pauses.reports(at: now)
        status.certificates = group.certificateReport.certificates.map {
            WorkerStatus.Certificate(name: $0.name, notAfterSeconds: $0.contents.validSeconds.upperBound)
        }
        status.logLinesDropped = environment.log.droppedCount
        status.spansDropped = environment.spans?.droppedCount ?? 0
        status.lanes = lanes.map { WorkerStatus.Lane($0) }
        status.retiredLanes = retired.map { WorkerStatus.Lane($0) }
        return status
    }

    /// Returns the reasons why the worker is not ready; empty if the worker is ready.
    private func reasons(of group: LaneGroup) -> [String] {
        guard group.isStarted else { return [fleet.waitReason ?? broker.missing ?? "worker starting"] }
        return group.stalled.map { "lane \($0) stalled" } + group.readiness.reasons
    }

    /// Returns the status line that systemd shows.
    func line(_ phase: WorkerStatus.Phase) -> String {
        guard phase != .draining else { return "draining" }
        let reasons = reasons(of: groups.inForce)
        return reasons.isEmpty ? "consuming requests" : reasons.joined(separator: "; ")
    }

    /// Returns all metrics as text, including the metrics whose values are in the snapshot.
    func metrics(_ snapshot: WorkerSnapshot) -> String {
        snapshot.write(to: environment.metrics)
        return environment.metrics.render()
    }
}

extension WorkerRoutes {
    /// Creates the routes from the objects that answer them.
    ///
    /// - Parameter phase: returns the phase of the worker.
    init(
        _ status: StatusCollector, _ groups: LaneGroups, _ pauses: PauseControl, _ store: StoreControl,
        phase: @escaping () -> WorkerStatus.Phase
    ) {
        self.init(
            status: { status.collect(phase(), $0) }, stalledLanes: { groups.inForce.stalled },
            metrics: { status.metrics($0) }, pause: { pauses.set($0, $1, $2) },
            changeStore: { store.perform($0, $1) })
    }
}
