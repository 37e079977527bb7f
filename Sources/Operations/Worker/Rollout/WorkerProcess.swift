import AMQP
import APNS
import CLinux
import Crypto
import Delivery
import EventLoop
import Glibc
import Telemetry

/// A worker: lanes on threads of their own, and this loop on the main thread, which hears signals, waits for the broker,
/// starts and drains the lanes, and watches that they turn.
///
/// `@unchecked Sendable`: lanes report by posting to the control loop; everything is touched on its thread only.
final class WorkerProcess: @unchecked Sendable {
    /// After the drain deadline, how long lanes may take to close their two connections to the broker.
    static let closeGraceSeconds = Lane.settleDeadlineSeconds + 2 * Lane.closeDeadlineSeconds + 1

    private static let signals = [SIGTERM, SIGINT, SIGHUP]

    let loop: EpollLoop
    let log: Log
    /// In force.
    var group: LaneGroup
    /// Takes the place of `group` once it is ready.
    var coming: LaneGroup?
    /// Were in force, and settle what they hold.
    var leaving: [LaneGroup] = []
    /// To be put in force after the change that is going on.
    var nextChange: (version: ConfigurationVersion, components: WorkerComponents)?
    var isChanging = false
    /// While `nextChange` was tried and waits to be tried again.
    var retry: TimerToken?
    var changeDelay = Outage()
    /// Have changed since the newest configuration was read, whose lanes may be yet to start.
    var newestPayloadSchemas: PayloadSchemaFiles?
    /// What cannot change without a restart is as here.
    let startedWith: Configuration
    let watcher: ConfigurationWatcher
    /// Completes what an operator is advised to run.
    let commands: CommandAdvice
    /// While the lanes are not started.
    var topologyWait: TopologyWait?
    let metrics = MetricsRegistry()
    private var minute: MinuteReport
    private var admin: AdminEndpoint?
    let spans: SpanExporter?
    var queueDepths: QueueDepths?
    /// What an operator has paused.
    var pauses: [Pause] = []
    let startedAt: MonotonicTime
    private let notifier: SystemdNotifier
    private let copies = DuplicateMemory()
    var tokens = ProviderTokens()
    var life = WorkerLife()
    private var code = ExitCode.failed

    /// Runs until told to stop. To be called on the main thread, before others are started.
    static func run(_ version: ConfigurationVersion, from path: String) -> ExitCode {
        SignalSource.block(Self.signals)
        let log = Log(level: version.configuration.logLevel)
        defer { log.flush() }
        do {
            return try WorkerProcess(version, from: path, log: log).run()
        } catch let error as CryptoError {
            return cannotStart(error.message, log)
        } catch let error as TransportError {
            return cannotStart(error.message, log)
        } catch {
            return cannotStart("\(error)", log)
        }
    }

    private static func cannotStart(_ reason: String, _ log: Log) -> ExitCode {
        log.error(.workerCannotStart, [.error: .string(reason)])
        return .failed
    }

    init(_ version: ConfigurationVersion, from path: String, log: Log) throws {
        self.log = log
        loop = try EpollLoop()
        let configuration = version.configuration
        startedWith = configuration
        group = try LaneGroup(version, WorkerComponents(configuration), log: log)
        commands = CommandAdvice(configPath: path)
        watcher = ConfigurationWatcher(version, from: path, log: log, metrics: metrics)
        minute = MinuteReport(metrics)
        spans = configuration.tracing.map { [group] in
            SpanExporter($0, worker: group.components.lane.worker, version: MartletCommand.version, log: log)
        }
        startedAt = loop.now.monotonic
        notifier = SystemdNotifier(Environment.value, processID: getpid(), log: log)
        try tokens.replace(group.components.keys, loop.now, random: loop.nextRandom)
        log.info(
            .workerStarting,
            [
                .processVersion: .string(MartletCommand.version), .processID: .integer(Int(getpid())),
                .lanes: .integer(group.lanes.count), .amqpQueue: .string(group.components.lane.names.requestQueues[0]),
                .amqpHost: .string(configuration.broker.url.endpoints.map(\.description).joined(separator: ",")),
            ])
    }

    private func run() throws -> ExitCode {
        try watcher.start { [self] change in loop.post { self.changed(change) } }
        try spans?.start()
        let signals = SignalBox()
        loop.post { [self] in
            do throws(TransportError) {
                signals.source = try SignalSource(loop: loop, signals: Self.signals) { self.signalled($0) }
            } catch {
                log.error(.workerCannotStart, [.error: .string(error.message)])
                return loop.stop()
            }
            openAdmin()
            if admin != nil { notifier.started() }
            notifySystemd()
            CertificateReport.repeat(on: loop, to: log) { self.certificateReport }
            Task(executorPreference: loop) { await self.begin() }
        }
        loop.run()
        signals.source?.close()
        spans?.queue.close(withinMilliseconds: SpanExporter.closeMillisecondsMax)
        report()
        return code
    }

    /// `@unchecked Sendable`: touched on the main thread only.
    private final class SignalBox: @unchecked Sendable {
        var source: SignalSource?
    }

    /// Starts the lanes once the broker has all that they need; a lane that found it missing could only stop.
    func begin() async {
        let wait = TopologyWait(
            loop: loop, access: group.components.brokerAccess, topology: group.components.topology, commands: commands,
            log: log)
        topologyWait = wait
        await wait.untilComplete()
        // Another configuration may wait for another broker meanwhile.
        guard life.isRunning, topologyWait === wait else { return }
        topologyWait = nil
        do throws(TransportError) {
            try start(group)
        } catch {
            log.error(.laneWithoutThread, [.error: .string(error.message)])
            act(on: .abort(.failed))
        }
        watch()
        reportMinutes()
        await watchQueues()
    }

    func watchQueues() async {
        let depths = QueueDepths(
            loop: loop, access: group.components.brokerAccess, topology: group.components.topology, log: log,
            commands: commands)
        queueDepths = depths
        await depths.watch()
    }

    private func openAdmin() {
        do throws(TransportError) {
            admin = try AdminEndpoint(
                loop: loop, group.components.configuration.admin, routes, metrics: metrics, log: log)
        } catch {
            log.error(.workerCannotStart, [.error: .string("admin.listen or admin.socket: \(error.message)")])
            loop.stop()
        }
    }

    /// - Throws: when the system gives no more threads; some lanes may have started.
    func start(_ group: LaneGroup) throws(TransportError) {
        renewTokens()
        if let newestPayloadSchemas { group.replace(newestPayloadSchemas) }
        try group.start { index throws(TransportError) in try start(index, of: group) }
        group.channels = group.components.configuration.channels.map {
            ChannelCommandRuntime(
                $0, group.components, loop: loop, tokens: tokenSupplies, metrics: metrics, log: log, commands: commands)
        }
    }

    private func start(_ index: Int, of group: LaneGroup) throws(TransportError) {
        var configuration = group.components.lane
        configuration.payloadSchemas = group.payloadSchemas
        configuration.number = index
        configuration.completeRemedy = commands.completed
        try group.lanes[index].start(
            configuration, connectors: group.components.laneConnectors[index], tokens: tokenSupplies,
            counters: LaneCounters(metrics), copies: copies, log: log, onSpans: spanReceiver,
            onStateChange: { [self] state in
                loop.post { self.laneChanged(index, of: group, state) }
            },
            ended: { [self] in
                loop.post { self.laneEnded(index, of: group) }
            })
        for pause in pauses { group.lanes[index].pause(pause.scope, true) { _ in } }
    }

    private var spanReceiver: (@Sendable (SpanBuffer) -> Void)? {
        guard let queue = spans?.queue else { return nil }
        return { queue.add($0) }
    }

    private func laneChanged(_ index: Int, of group: LaneGroup, _ state: LaneState) {
        guard group.laneChanged(index, state), group === self.group, life.isRunning else { return }
        sayWhetherReady(index)
    }

    private func sayWhetherReady(_ index: Int) {
        let readiness = group.readiness
        if readiness.isReady {
            log.info(
                .workerReady,
                [
                    .lanes: .integer(group.lanes.count),
                    .amqpQueue: .string(group.components.lane.names.requestQueues[0]),
                ])
        } else {
            log.warning(
                .workerNotReady, [.lane: .integer(index), .error: .string(readiness.reasons.joined(separator: "; "))])
        }
    }

    private func laneEnded(_ index: Int, of group: LaneGroup) {
        group.laneEnded(index)
        partEnded(of: group)
    }

    /// Has it take no more commands for channels.
    func closeChannels(of group: LaneGroup, deadlineSeconds: Int) {
        guard let channels = group.channels else { return }
        Task(executorPreference: loop) {
            await channels.close(deadlineSeconds: deadlineSeconds)
            group.channels = nil
            self.partEnded(of: group)
        }
    }

    func partEnded(of group: LaneGroup) {
        guard group.hasEnded else { return }
        if life.isRunning { return left(group) }
        if groups.allSatisfy({ $0.hasEnded || !$0.isStarted }) { loop.stop() }
    }

    /// All that there are, the oldest first.
    var groups: [LaneGroup] { leaving + [group] + (coming.map { [$0] } ?? []) }

    private func signalled(_ signal: Int32) {
        guard signal != SIGHUP else { return watcher.readAgain() }
        log.info(.workerSignalled, [.processSignal: .string(signal == SIGINT ? "SIGINT" : "SIGTERM")])
        act(on: life.signalled(signal, lanes: groups.reduce(0) { $0 + $1.undrained.count }))
    }

    private func act(on action: WorkerLife.Action) {
        switch action {
        case .none: break
        case .drain: drain()
        case .finish(let code): self.code = code
        case .abort(let code):
            self.code = code
            report()
            log.flush()
            // Lanes still run and may be anywhere: without the handlers of `exit`, which would free what they use.
            _exit(code.rawValue)
        }
    }

    private func drain() {
        notifier.stopping()
        guard group.isStarted else { return endUnstarted() }
        log.info(.workerDraining, [.inFlight: .integer(metrics.level(of: "martlet_inflight"))])
        Task(executorPreference: loop) { await self.queueDepths?.close() }
        let deadlineSeconds = group.components.configuration.limits.drainDeadlineSeconds
        for group in groups { drain(group, deadlineSeconds) }
        loop.schedule(after: .seconds(deadlineSeconds + Self.closeGraceSeconds)) { [self] in
            act(on: life.graceEnded())
        }
    }

    private func drain(_ group: LaneGroup, _ deadlineSeconds: Int) {
        closeChannels(of: group, deadlineSeconds: deadlineSeconds)
        for index in group.undrained {
            group.lanes[index].drain(deadlineSeconds: deadlineSeconds) { [self] unfinished in
                loop.post { self.laneDrained(index, of: group, unfinished: unfinished) }
            }
        }
    }

    func laneDrained(_ index: Int, of group: LaneGroup, unfinished: Int) {
        group.laneDrained(index)
        act(on: life.laneDrained(unfinished: unfinished))
    }

    /// Nothing was taken yet.
    private func endUnstarted() {
        act(on: life.laneDrained(unfinished: 0))
        Task(executorPreference: loop) {
            await self.topologyWait?.close()
            self.loop.stop()
        }
    }

    private func report() {
        let totals = WorkerTotals(metrics)
        func count(_ outcome: Outcome) -> LogValue { .integer(totals.ended(outcome)) }
        log.info(
            .workerStopped,
            [
                .processExitCode: .integer(Int(code.rawValue)),
                .delivered: .integer(totals.taken),
                .accepted: count(.accepted), .rejected: count(.rejected), .expired: count(.expired),
                .invalid: count(.invalid), .unknown: count(.unknown),
                .retried: .integer(totals.retried), .held: .integer(totals.held),
                .quarantined: .integer(totals.quarantined), .deadLetters: .integer(totals.deadLetters),
                .requeued: .integer(totals.requeued), .duplicates: .integer(totals.duplicates),
                .publishRepeats: .integer(totals.publishRepeats),
                .unknownOutcomes: .integer(totals.unknownOutcomes),
                .inFlight: .integer(metrics.level(of: "martlet_inflight")), .memoryBytes: .integer(peakMemoryBytes),
            ])
    }

    private var peakMemoryBytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }

    private var tokenSupplies: [Credential.Name: TokenSupply] {
        tokens.supplies { [self] name, refusal in
            loop.post {
                let news = self.tokens.refused(refusal, of: name, self.loop.now, random: self.loop.nextRandom)
                self.handOut(news, of: name)
            }
        }
    }

    private func renewTokens() {
        for (name, news) in tokens.renew(loop.now, random: loop.nextRandom) { handOut(news, of: name) }
    }

    func handOut(_ news: TokenNews, of credential: Credential.Name) {
        for group in groups { group.take(news, of: credential) }
    }

    /// Again and again.
    func watch() {
        renewTokens()
        for group in groups { group.watch(now: loop.now.monotonic) }
        loop.schedule(after: .seconds(StallDetector.checkIntervalSeconds)) { [self] in watch() }
    }

    /// It is alive as long as every lane turns, as `/livez` has it.
    private func notifySystemd() {
        guard let interval = notifier.interval else { return }
        let reasons = reasons.joined(separator: "; ")
        notifier.report(
            !life.isRunning ? "settles what it holds" : reasons.isEmpty ? "takes messages" : reasons,
            isAlive: group.stalled.isEmpty)
        loop.schedule(after: interval) { [self] in notifySystemd() }
    }

    var certificateReport: CertificateReport {
        CertificateReport(certificates: group.components.configuration.apns.certificates)
    }

    private func reportMinutes() {
        loop.schedule(after: .seconds(MinuteReport.intervalSeconds)) { [self] in
            minute.write(to: log)
            reportMinutes()
        }
    }
}
