import AMQP
import BrokerTopology
import Configuration
import ControlProtocol
import Crypto
import Delivery
import EventLoop

/// The worker's part of fleet control. It applies the pauses of the fleet, runs the commands of operators, and reports
/// to them. Without the section `fleet` of the configuration, nothing connects. Runs on the control loop.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class FleetControl: FleetPausesHandler, @unchecked Sendable {
    /// The objects that exist while the configuration has the section `fleet`.
    private struct Connected {
        let link: FleetLink
        let commands: FleetCommands
        let reports: FleetReports
    }

    /// Maximum time by which fleet control delays the exit of the worker.
    private static let closeSecondsMax = 2

    private let environment: LaneEnvironment
    private let pauses: FleetPauses
    private let local: PauseControl
    private let probes: ProbeControl
    private let collect: (@escaping (WorkerSnapshot) -> Void) -> Void
    private unowned let handler: RolloutHandler
    private let bootID: UUIDValue
    /// The number of the last report of the process.
    private var sequence = 0
    private let journal: FleetJournal
    /// The last revision of pauses that all lanes have applied.
    private var appliedRevision: PauseRevision?
    private var connected: Connected?
    private var closeTimer: TimerToken?

    /// - Parameters:
    ///   - journal: the journal of the worker.
    ///   - local: the pauses of this worker, which commands change.
    ///   - probes: probes the breakers of this worker.
    ///   - handler: receives `processStarted` once the worker may consume requests.
    ///   - collect: collects the status of the worker.
    init(
        _ pauses: FleetPauses, _ journal: FleetJournal, local: PauseControl, probes: ProbeControl,
        in environment: LaneEnvironment, handler: RolloutHandler,
        collect: @escaping (@escaping (WorkerSnapshot) -> Void) -> Void
    ) {
        (self.pauses, self.local, self.environment, self.collect) = (pauses, local, environment, collect)
        (self.journal, bootID) = (journal, journal.bootID)
        (self.probes, self.handler) = (probes, handler)
        super.init()
        local.fleetHandler = self
    }

    private var loop: EventLoop { environment.loop }

    /// Begins fleet control if the configuration has the section `fleet`. Otherwise, the worker may consume
    /// immediately.
    func start(_ components: WorkerComponents) {
        guard let settings = components.configuration.fleet else { return mayConsume() }
        pauses.start(self)
        connect(components, settings)
    }

    override func mayConsume() { handler.handle(.processStarted) }

    override func pausesChanged() { connected?.reports.changed() }

    /// Follows a change of the configuration. Connects again, because the broker's settings or TLS files may have
    /// changed. The offsets of another broker are meaningless, so commands are read from the end of the stream.
    func changed(_ components: WorkerComponents) {
        let former = connected.take()
        if let former { leave(former, endsJournal: components.configuration.journal == nil) }
        guard let settings = components.configuration.fleet else {
            if former != nil { pauses.end() }
            // The worker may still wait for the pauses. A direct call would interrupt the current event of the rollout.
            return loop.later { [self] in mayConsume() }
        }
        if former == nil { pauses.start(self) }
        connect(components, settings)
    }

    private func connect(_ components: WorkerComponents, _ settings: WorkerConfiguration.Fleet) {
        let exchange = components.topology.names.controlExchange
        let link = FleetLink(components, on: loop)
        let reports = FleetReports(settings, on: loop, collect: collect) { [weak self] status, hasEnded, then in
            guard let self else { return then() }
            sequence += 1
            if local.hasAppliedFleetPauses { appliedRevision = pauses.revision }
            let report = FleetReport(
                status, bootID: bootID, sequence: sequence, sentAt: loop.now.unixMilliseconds, hasEnded: hasEnded,
                pauses: appliedRevision)
            link.publish(report.json, type: FleetReport.type, key: "status.\(report.worker)") { _ in then() }
        }
        let actions = FleetCommands.Actions(
            report: { [journal] in
                reports.commanded(seconds: $0)
                journal.commanded(seconds: $0)
            }, describe: collect, pause: { [local] in local.set($0, $1, $2) },
            probe: { [probes] in probes.probeNow($0, then: $1) },
            reply: { link.publish($0.json, type: FleetReply.type, key: "reply.\($0.id)") { _ in } })
        let commands = FleetCommands(
            worker: components.lane.worker, exchange: exchange, in: environment, actions)
        pauses.exchange = exchange
        link.start(pauses: pauses, commands: commands)
        connected = Connected(link: link, commands: commands, reports: reports)
        reports.start()
        if components.configuration.journal != nil { journal.connect(link, worker: components.lane.worker) }
    }

    /// - Parameter endsJournal: whether the worker writes no journal from now on.
    private func leave(_ former: Connected, endsJournal: Bool) {
        former.reports.stop()
        let link = former.link
        Task(executorPreference: loop) { [journal] in
            if endsJournal { await journal.end() }
            await link.close()
        }
    }

    /// Publishes the last report and the rest of the journal unless the broker is away, closes the connections, and
    /// then calls `completion`, after ``closeSecondsMax`` seconds at the latest.
    func close(_ completion: @escaping @Sendable () -> Void) {
        guard let connected else { return completion() }
        let (link, reports) = (connected.link, connected.reports)
        closeTimer = loop.schedule(after: .seconds(Self.closeSecondsMax)) { [self] in
            closeTimer = nil
            completion()
        }
        Task(executorPreference: loop) { [self] in
            if link.isReady { await reports.end() } else { reports.stop() }
            await journal.end()
            await link.close()
            guard let timer = closeTimer.take() else { return }
            loop.cancel(timer)
            completion()
        }
    }
}
