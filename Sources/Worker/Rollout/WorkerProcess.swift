package import Configuration
import ControlProtocol
import EventLoop
import Glibc
import Telemetry

/// A worker process. Executes the actions of its rollout on the control loop, which runs on the main thread.
///
/// `@unchecked Sendable`: only the control loop uses the object.
package final class WorkerProcess: RolloutHandler, @unchecked Sendable {
    private static let signals = [SIGTERM, SIGINT, SIGHUP]

    private let loop: EpollLoop
    private let environment: LaneEnvironment
    private let spans: SpanExporter?
    private let groups: LaneGroups
    private let broker: BrokerInspector
    private let pauses: PauseControl
    private let status: StatusCollector
    private let fleetPauses: FleetPauses
    private let journal: FleetJournal
    private var fleet: FleetControl?
    private let health: HealthMonitor
    private let watcher: ConfigurationWatcher
    private let report: WorkerLog
    private var rollout: WorkerRollout
    private var signals: SignalSource?
    private var endpoint: AdminEndpoint?
    private var timer: TimerToken?
    private var exit = WorkerExit.failed

    /// Runs a worker until a signal stops the worker, or until it fails. Exits the process instead of returning if
    /// lanes may still run then. Call this function on the main thread, before other threads start.
    ///
    /// - Parameter commands: completes the commands in remedies.
    package static func run(_ version: ConfigurationVersion, from path: String, commands: CommandAdvice) -> WorkerExit {
        SignalSource.block(signals)
        let log = Log(level: version.configuration.logLevel)
        defer { log.flush() }
        do {
            return try WorkerProcess(version, from: path, commands, log).run()
        } catch {
            WorkerLog.cannotStart(error, log)
            return .failed
        }
    }

    private init(_ version: ConfigurationVersion, from path: String, _ commands: CommandAdvice, _ log: Log) throws {
        loop = try EpollLoop()
        let first = WorkerRollout.Generation(number: 0, version: try PreparedVersion(version))
        rollout = WorkerRollout(first)
        spans = SpanExporter(first.version, log: log)
        environment = LaneEnvironment(loop: loop, log: log, spans: spans?.queue, commands: commands)
        groups = try LaneGroups(first, in: environment)
        broker = BrokerInspector(in: environment)
        pauses = PauseControl(groups, in: environment)
        fleetPauses = FleetPauses(pauses, in: environment)
        journal = FleetJournal(in: environment)
        status = StatusCollector(groups, broker, pauses, fleetPauses, journal, in: environment)
        health = HealthMonitor(groups, in: environment)
        watcher = ConfigurationWatcher(version, from: path, log: log, metrics: environment.metrics)
        report = WorkerLog(version.configuration, in: environment)
        super.init()
        report.starting(groups.inForce)
    }

    private func run() throws -> WorkerExit {
        try watcher.start { [self] change in loop.post { self.changed(change) } }
        try spans?.start()
        loop.post { self.begin() }
        loop.run()
        signals?.close()
        spans?.queue.close(withinMilliseconds: SpanExporter.closeMillisecondsMax)
        report.stopped(exit)
        return exit
    }

    private func begin() {
        do throws(TransportError) {
            signals = try SignalSource(loop: loop, signals: Self.signals) { [self] in signalled($0) }
            let store = StoreControl(groups, on: loop)
            let routes = WorkerRoutes(status, groups, pauses, store) { [self] in rollout.phase }
            endpoint = try AdminEndpoint(
                groups.inForce.configuration.admin, routes, on: loop, metrics: environment.metrics,
                log: environment.log)
        } catch {
            WorkerLog.cannotStart(error, environment.log)
            return loop.stop()
        }
        health.start { [self] in status.line(rollout.phase) }
        let fleet = FleetControl(
            fleetPauses, journal, local: pauses, probes: ProbeControl(groups: groups, loop: loop), in: environment,
            handler: self
        ) { [self] in
            status.collect(rollout.phase, $0)
        }
        self.fleet = fleet
        // The rollout starts once the pauses of the fleet are in force.
        fleet.start(groups.inForce.components)
    }

    private func signalled(_ number: Int32) {
        guard number != SIGHUP else { return watcher.readAgain() }
        let signal: StopSignal = number == SIGINT ? .interrupt : .terminate
        report.signalled(signal)
        let seconds = groups.inForce.configuration.limits.drainDeadlineSeconds
        handle(.signalled(signal, undrained: groups.undrainedCount, drainDeadlineSeconds: seconds))
    }

    private func changed(_ change: ConfigurationWatcher.Change) {
        guard rollout.phase != .draining else { return }
        switch change {
        case .payloadSchemas(let files): groups.replace(files)
        case .version(let version):
            groups.versionRead()
            handle(.versionRead(version))
        }
    }

    override func handle(_ event: WorkerRollout.Event) {
        // Events that an action returns are handled after all actions of the current event.
        var events = [event]
        while !events.isEmpty {
            for action in rollout.handle(events.removeFirst(), now: loop.now.monotonic) { events += perform(action) }
        }
    }

    private func perform(_ action: WorkerRollout.Action) -> [WorkerRollout.Event] {
        switch action {
        case .awaitTopology(let generation): broker.awaitTopology(of: generation, handler: self)
        case .checkTopology(let generation): broker.checkTopology(of: generation, handler: self)
        case .start(let generation): return [groups.start(generation, pauses: pauses.pauses, handler: self)]
        case .superviseLanes: health.superviseLanes()
        case .monitorQueues(let generation): broker.monitorQueues(of: generation.version.components)
        case .putInForce(let generation):
            groups.putInForce(generation)
            fleet?.changed(generation.version.components)
            report.changed()
        case .finish(let number): return groups.finish(number, handler: self)
        case .remove(let number): if let group = groups.remove(number) { report.ended(group) }
        case .announce: report.announce(groups.inForce, unixSeconds: loop.now.unixSeconds)
        case .reportReadiness(let lane): report.readiness(of: groups.inForce, lane: lane)
        case .reportPostponement: report.postponed()
        case .reportDelay(let obstacle): report.delayed(groups.text(of: obstacle))
        case .reject(let version, let inForce, let obstacle):
            watcher.rejected(version.version, inForce: inForce.version)
            report.rejected(groups.text(of: obstacle))
        case .reportLanesWithoutThread(let obstacle): report.lanesWithoutThread(groups.text(of: obstacle))
        case .notifyStopping: health.notifyStopping()
        case .drain(let seconds):
            report.draining()
            broker.stopMonitoring()
            groups.drain(deadlineSeconds: seconds, handler: self)
        case .setTimer(let time):
            if let timer { loop.cancel(timer) }
            timer = time.map { loop.schedule(at: $0) { self.handle(.timerFired) } }
        case .exit(let exit):
            self.exit = exit
            broker.endWait {
                self.fleet?.close { self.loop.stop() }
            }
        case .abort(let exit):
            report.stopped(exit)
            // Do not call exit(3), whose handlers would free memory that running lanes use.
            _exit(exit.rawValue)
        }
        return []
    }
}
