import EventLoop
import Registrations
import Telemetry

/// The store of a consumer of commands. It writes commands in batches, one batch at a time. It repeats a batch after a
/// fault of the store.
///
/// Loop-bound.
final class CommandStore {
    let loop: EventLoop
    private let writer: RegistrationWriter
    private let devicesPerUserMax: Int
    private let metrics: RegistrationMetrics
    private let log: Log
    private let completeRemedy: @Sendable (String) -> String
    private var availability = StoreAvailability()
    private var queue = CommandQueue<WaitingCommand>()
    private var outage = Outage()
    /// The fault of a missing data key in a maintenance round. Nil if the last completed round had no such fault.
    private var omission: StoreFault?
    private let collectTimer: DeadlineTimer
    private let retryTimer: DeadlineTimer
    private weak var intake: CommandIntake?

    init(
        _ writer: RegistrationWriter, loop: EventLoop, devicesPerUserMax: Int, metrics: RegistrationMetrics, log: Log,
        completeRemedy: @escaping @Sendable (String) -> String
    ) {
        (self.writer, self.loop, self.devicesPerUserMax) = (writer, loop, devicesPerUserMax)
        (self.metrics, self.log, self.completeRemedy) = (metrics, log, completeRemedy)
        collectTimer = DeadlineTimer(on: loop)
        retryTimer = DeadlineTimer(on: loop)
    }

    /// Connects to the store. Reports outcomes of commands and changes of `acceptsWork` to the intake.
    func start(for intake: CommandIntake) {
        self.intake = intake
        writer.start { [weak self] fault in
            guard let self else { return }
            change { $0.writerChanged(fault) }
        }
    }

    /// Prevents further batches.
    func end() {
        for timer in [collectTimer, retryTimer] { timer.cancel() }
        availability.end()
        metrics.storeIsUp(false)
    }

    var acceptsWork: Bool { availability.acceptsWork }

    /// The fault that prevents changes, as a sentence for operators; nil without a fault.
    var failure: String? { availability.fault.map { sentence(of: $0) } }

    /// Whether no command is waiting or being written.
    var isIdle: Bool { queue.isEmpty }

    /// The rules at the current time.
    var rules: RegistrationRules {
        RegistrationRules(now: loop.now.unixMilliseconds, devicesPerUserMax: devicesPerUserMax)
    }

    func append(_ command: WaitingCommand) {
        queue.append(command, now: loop.now.monotonic)
        write()
    }

    /// Removes the commands whose deliveries are settled, unless they are being written.
    func removeSettled() { _ = queue.removeAll { $0.delivery.isSettled } }

    /// Removes and returns the commands that are not being written.
    func removeWaiting() -> [WaitingCommand] { queue.removeAll() }

    /// Writes a batch that does not come from the queue.
    func apply(_ batch: CommandBatch) { writer.apply(batch) }

    func edit(_ page: EditPage) { writer.edit(page) }

    func delete(_ events: EventDeletion) { writer.delete(events) }

    func maintain(_ round: Maintenance) { writer.maintain(round) }

    /// Handles the end of a batch, deletion or maintenance round. `fault` is nil after a success. For a batch, `fault`
    /// never has the code `data`. For a deletion or maintenance round, no command causes this code. Each fault
    /// therefore prevents changes.
    func workEnded(_ fault: StoreFault?) {
        guard let fault else { return change { $0.succeeded() } }
        metrics.failed(fault)
        let now = loop.now.monotonic
        change { $0.failed(fault, now: now) }
        scheduleRetry()
    }

    /// Handles the end of a maintenance round with respect to missing data keys. `fault` has the code `keys` if the
    /// round failed or omitted rows or events for lack of a data key. `fault` is nil if the round omitted none.
    /// Commands continue, since few commands need the missing key.
    func maintenanceOmitted(_ fault: StoreFault?) {
        let previous = omission
        omission = fault
        guard let fault else { return }
        metrics.failed(fault)
        // Each round repeats the fault.
        guard fault != previous else { return }
        log.warning(.registrationMaintenanceIncomplete, [.error: .string(completeRemedy(fault.sentence))])
    }

    private func scheduleRetry() {
        guard let retryAt = availability.retryAt else { return }
        retryTimer.arm(at: retryAt, for: self) { store in
            store.change { $0.retry(now: store.loop.now.monotonic) }
            store.scheduleRetry()
        }
    }

    private func write() {
        guard acceptsWork else { return }
        switch queue.next(now: loop.now.monotonic) {
        case .write(let commands): writer.apply(Batch(commands, rules: rules, by: self))
        case .wait(let time): collectTimer.arm(at: time, for: self) { $0.write() }
        case .none: break
        }
    }

    /// A batch that reports its end to the `CommandStore`.
    private final class Batch: CommandBatch {
        let waiting: [WaitingCommand]
        let begunAt: MonotonicTime
        private let store: CommandStore

        init(_ waiting: [WaitingCommand], rules: RegistrationRules, by store: CommandStore) {
            (self.waiting, self.store, begunAt) = (waiting, store, store.loop.now.monotonic)
            super.init(waiting.map(\.received.command), rules: rules)
        }

        override func completed(_ outcomes: [CommandOutcome]) { store.committed(self, outcomes) }

        override func failed(_ fault: StoreFault) { store.failed(fault) }
    }

    private func committed(_ batch: Batch, _ outcomes: [CommandOutcome]) {
        metrics.committed(batch.waiting.count, since: batch.begunAt, loop.now.monotonic)
        queue.committed()
        workEnded(nil)
        intake?.stored(zip(batch.waiting, outcomes))
        write()
    }

    private func failed(_ fault: StoreFault) {
        if fault.code == .data {
            metrics.failed(fault)
            if let faulty = queue.refused() { intake?.refuse(faulty, because: fault) }
            change { $0.succeeded() }
        } else {
            queue.failed(isRepeatedFailure: availability.isTrying)
            workEnded(fault)
        }
        if acceptsWork { write() } else { intake?.requeueUnstorable() }
    }

    private func change(_ change: (inout StoreAvailability) -> Void) {
        let (acceptedWork, hadFault) = (acceptsWork, availability.fault)
        change(&availability)
        if availability.fault != hadFault { logOutage() }
        guard acceptsWork != acceptedWork else { return }
        metrics.storeIsUp(acceptsWork)
        intake?.storeChanged()
        write()
    }

    private func logOutage() {
        let now = loop.now.monotonic
        if let fault = availability.fault {
            // Log only the first fault of an outage. The status and the metrics report later faults.
            guard outage.lasts(now) == .zero else { return }
            log.warning(.registrationStoreLost, [.error: .string(sentence(of: fault))])
        } else if let length = outage.ends(now) {
            log.info(.registrationStoreBack, [.durationMilliseconds: .milliseconds(length)])
        }
    }

    private func sentence(of fault: StoreFault) -> String {
        completeRemedy("cannot store registrations (\(fault.code.rawValue)): \(fault.sentence)")
    }
}
