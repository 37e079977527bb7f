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
    private static let closeGraceSeconds = Lane.settleDeadlineSeconds + 2 * Lane.closeDeadlineSeconds + 1

    private static let signals = [SIGTERM, SIGINT, SIGHUP]

    let loop: EpollLoop
    let log: Log
    let plan: WorkerPlan
    private let deadlineSeconds: Int
    private let access: [LaneAccess]
    let brokerAccess: BrokerAccess
    /// While the lanes are not started.
    var topologyWait: TopologyWait?
    private var payloadSchemas: PayloadSchemas
    let metrics = MetricsRegistry()
    private var minute: MinuteReport
    let certificateReport: CertificateReport
    private let adminConfiguration: Configuration.Admin
    private var admin: WorkerAdmin?
    let spans: SpanExporter?
    var queueDepths: QueueDepths?
    /// What an operator has paused.
    var pauses: [PauseScope] = []
    let startedAt: MonotonicTime
    private let copies = CopyMemory()
    private var tokens = ProviderTokens()
    var lanes: [LaneThread] = []
    var life: WorkerLife
    var readiness: Readiness
    var watchdog: LaneWatchdog
    var isStarted = false
    /// Numbers of those that have drained.
    private(set) var endedLanes: [Int] = []
    private var code = ExitCode.failed

    /// Runs until told to stop. To be called on the main thread, before others are started.
    static func run(_ configuration: Configuration) -> ExitCode {
        SignalSource.block(Self.signals)
        let log = Log(level: configuration.logLevel)
        defer { log.flush() }
        do {
            return try WorkerProcess(configuration, log: log).run()
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

    private init(_ configuration: Configuration, log: Log) throws {
        self.log = log
        loop = try EpollLoop()
        plan = try WorkerPlan(configuration)
        access = try (0..<plan.lanes).map { [plan] _ in try plan.access() }
        lanes = try access.map { _ in try LaneThread() }
        brokerAccess = try plan.brokerAccess()
        payloadSchemas = plan.lane.payloadSchemas
        deadlineSeconds = configuration.limits.drainDeadlineSeconds
        minute = MinuteReport(metrics)
        certificateReport = CertificateReport(certificates: configuration.apns.certificates)
        adminConfiguration = configuration.admin
        spans = configuration.tracing.map { [plan] in
            SpanExporter($0, worker: plan.lane.worker, version: MartletCommand.version, log: log)
        }
        startedAt = loop.now.monotonic
        try tokens.replace(plan.keys, loop.now, random: loop.nextRandom)
        life = WorkerLife(lanes: plan.lanes)
        readiness = Readiness(lanes: plan.lanes)
        watchdog = LaneWatchdog(log: log)
        log.info(
            .workerStarting,
            [
                .processVersion: .string(MartletCommand.version), .processID: .integer(Int(getpid())),
                .lanes: .integer(plan.lanes), .amqpQueue: .string(plan.lane.names.requestQueues[0]),
                .amqpHost: .string(configuration.broker.url.endpoints.map(\.description).joined(separator: ",")),
            ])
    }

    private func run() throws -> ExitCode {
        try PayloadSchemaWatcher.start(plan.payloadSchemaFiles, log: log, metrics: metrics) { [self] files in
            loop.post { self.replace(files) }
        }
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
            reportCertificates()
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
    private func begin() async {
        let wait = TopologyWait(loop: loop, access: brokerAccess, topology: plan.topology, log: log)
        topologyWait = wait
        await wait.untilComplete()
        guard life.isRunning else { return }
        topologyWait = nil
        isStarted = true
        renewTokens()
        for index in lanes.indices { start(index) }
        watch()
        reportMinutes()
        let depths = QueueDepths(loop: loop, access: brokerAccess, topology: plan.topology)
        queueDepths = depths
        await depths.watch()
    }

    private func openAdmin() {
        do throws(TransportError) {
            admin = try WorkerAdmin(loop: loop, adminConfiguration, routes, log: log)
        } catch {
            log.error(.workerCannotStart, [.error: .string("the admin endpoint: \(error.message)")])
            loop.stop()
        }
    }

    private func start(_ index: Int) {
        var configuration = plan.lane
        configuration.payloadSchemas = payloadSchemas
        configuration.number = index
        do throws(TransportError) {
            try lanes[index].start(
                configuration, access: access[index], tokens: tokenSupplies, counters: LaneCounters(metrics),
                copies: copies, log: log, onSpans: spanReceiver,
                onStateChange: { [self] state in
                    loop.post { self.laneChanged(index, state) }
                },
                ended: { [self] in
                    loop.post { self.laneEnded(index) }
                })
            for scope in pauses { lanes[index].pause(scope, true) { _ in } }
        } catch {
            log.error(.laneWithoutThread, [.lane: .integer(index), .error: .string(error.message)])
            act(on: .abort(.failed))
        }
    }

    private var spanReceiver: (@Sendable (SpanBuffer) -> Void)? {
        guard let queue = spans?.queue else { return nil }
        return { queue.add($0) }
    }

    private func replace(_ files: PayloadSchemaFiles) {
        payloadSchemas = plan.payloadSchemas(files)
        for lane in lanes { lane.replace(payloadSchemas) }
    }

    private func laneChanged(_ index: Int, _ state: LaneState) {
        guard readiness.lane(index, state), life.isRunning else { return }
        if readiness.isReady {
            log.info(
                .workerReady, [.lanes: .integer(plan.lanes), .amqpQueue: .string(plan.lane.names.requestQueues[0])])
        } else {
            log.warning(
                .workerNotReady, [.lane: .integer(index), .error: .string(readiness.reasons.joined(separator: "; "))])
        }
    }

    private func laneEnded(_ index: Int) {
        endedLanes.append(index)
        if endedLanes.count == lanes.count { loop.stop() }
    }

    private func signalled(_ signal: Int32) {
        guard signal != SIGHUP else {
            return log.warning(.signalUnsupported)
        }
        log.info(.workerSignalled, [.processSignal: .string(signal == SIGINT ? "SIGINT" : "SIGTERM")])
        act(on: life.signalled(signal))
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
        guard isStarted else { return endUnstarted() }
        log.info(.workerDraining, [.inFlight: .integer(metrics.level(of: "martlet_inflight"))])
        Task(executorPreference: loop) { await self.queueDepths?.close() }
        for lane in lanes {
            lane.drain(deadlineSeconds: deadlineSeconds) { [self] unfinished in
                loop.post { self.act(on: self.life.laneDrained(unfinished: unfinished)) }
            }
        }
        loop.schedule(after: .seconds(deadlineSeconds + Self.closeGraceSeconds)) { [self] in
            act(on: life.graceEnded())
        }
    }

    /// Nothing was taken yet.
    private func endUnstarted() {
        for _ in lanes { act(on: life.laneDrained(unfinished: 0)) }
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

    private func handOut(_ news: TokenNews, of credential: Credential.Name) {
        for lane in lanes { lane.take(news, of: credential) }
    }

    private func watch() {
        renewTokens()
        watchdog.check(lanes, without: endedLanes, now: loop.now.monotonic)
        loop.schedule(after: .seconds(StallDetector.checkIntervalSeconds)) { [self] in watch() }
    }

    private func reportCertificates() {
        certificateReport.write(to: log, unixSeconds: loop.now.unixSeconds)
        loop.schedule(after: .seconds(CertificateReport.intervalSeconds)) { [self] in reportCertificates() }
    }

    private func reportMinutes() {
        loop.schedule(after: .seconds(MinuteReport.intervalSeconds)) { [self] in
            minute.write(to: log)
            reportMinutes()
        }
    }
}
