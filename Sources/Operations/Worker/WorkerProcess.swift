import AMQP
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
    private static let closeGraceSeconds = 2 * Lane.closeDeadlineSeconds + 1

    private static let signals = [SIGTERM, SIGINT, SIGHUP]

    private let loop: EpollLoop
    private let log: Log
    private let plan: WorkerPlan
    private let deadlineSeconds: Int
    private let access: [LaneAccess]
    private let brokerAccess: BrokerAccess
    /// While the lanes are not started.
    private var topologyWait: TopologyWait?
    private var payloadSchemas: PayloadSchemas
    private let counters: LaneCounters
    private let copies = CopyMemory()
    private var lanes: [LaneThread] = []
    private var life: WorkerLife
    private var readiness: Readiness
    private var watchdog: LaneWatchdog
    private var isStarted = false
    private var running = 0
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
        log.error("the worker cannot start", [.error: .string(reason)])
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
        counters = LaneCounters(MetricsRegistry())
        life = WorkerLife(lanes: plan.lanes)
        readiness = Readiness(lanes: plan.lanes)
        watchdog = LaneWatchdog(log: log)
        log.info(
            "starting",
            [
                .processVersion: .string(MartletCommand.version), .processID: .integer(Int(getpid())),
                .lanes: .integer(plan.lanes), .amqpQueue: .string(plan.lane.names.requestQueues[0]),
                .amqpHost: .string(configuration.broker.url.endpoints.map(\.description).joined(separator: ",")),
            ])
    }

    private func run() throws -> ExitCode {
        try PayloadSchemaWatcher.start(plan.payloadSchemaFiles, log: log) { [self] files in
            loop.post { self.replace(files) }
        }
        let signals = SignalBox()
        loop.post { [self] in
            do throws(TransportError) {
                signals.source = try SignalSource(loop: loop, signals: Self.signals) { self.signalled($0) }
            } catch {
                log.error("the worker cannot start", [.error: .string(error.message)])
                return loop.stop()
            }
            Task(executorPreference: loop) { await self.begin() }
        }
        loop.run()
        signals.source?.close()
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
        for index in lanes.indices { start(index) }
        watch()
    }

    private func start(_ index: Int) {
        var configuration = plan.lane
        configuration.payloadSchemas = payloadSchemas
        configuration.number = index
        do throws(TransportError) {
            try lanes[index].start(
                configuration, access: access[index], counters: counters, copies: copies, log: log,
                onStateChange: { [self] state in
                    loop.post { self.laneChanged(index, state) }
                },
                ended: { [self] in
                    loop.post { self.laneEnded() }
                })
            running += 1
        } catch {
            log.error("A lane has no thread", [.lane: .integer(index), .error: .string(error.message)])
            act(on: .abort(.failed))
        }
    }

    private func replace(_ files: PayloadSchemaFiles) {
        payloadSchemas = plan.payloadSchemas(files)
        for lane in lanes { lane.replace(payloadSchemas) }
    }

    private func laneChanged(_ index: Int, _ state: LaneState) {
        guard readiness.lane(index, isReady: state.isReady), life.isRunning else { return }
        if readiness.isReady {
            log.info("ready", [.lanes: .integer(plan.lanes), .amqpQueue: .string(plan.lane.names.requestQueues[0])])
        } else {
            log.warning("not ready", [.lane: .integer(index)])
        }
    }

    private func laneEnded() {
        running -= 1
        if running == 0 { loop.stop() }
    }

    private func signalled(_ signal: Int32) {
        guard signal != SIGHUP else {
            return log.warning("SIGHUP is not supported yet, restart to change the configuration")
        }
        log.info("signal received", [.processSignal: .string(signal == SIGINT ? "SIGINT" : "SIGTERM")])
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
        log.info("draining", [.inFlight: .integer(Int(counters.inFlight.value))])
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
        func count(_ outcome: Outcome) -> LogValue { .integer(counters.outcomes[outcome]?.value ?? 0) }
        log.info(
            "stopped",
            [
                .processExitCode: .integer(Int(code.rawValue)),
                .delivered: .integer(counters.deliveries.value),
                .accepted: count(.accepted), .rejected: count(.rejected), .expired: count(.expired),
                .invalid: count(.invalid), .unknown: count(.unknown),
                .retried: .integer(counters.retries.value), .held: .integer(counters.held.value),
                .quarantined: .integer(counters.quarantined.value), .deadLetters: .integer(counters.deadLetters.value),
                .requeued: .integer(counters.requeued.value), .duplicates: .integer(counters.duplicates.value),
                .publishRepeats: .integer(counters.publishRepeats.value),
                .unknownOutcomes: .integer(counters.unknownOutcomes.value),
                .inFlight: .integer(Int(counters.inFlight.value)), .memoryBytes: .integer(peakMemoryBytes),
            ])
    }

    private var peakMemoryBytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }

    private func watch() {
        watchdog.check(lanes, now: loop.now.monotonic)
        loop.schedule(after: .seconds(StallDetector.checkIntervalSeconds)) { [self] in watch() }
    }
}
