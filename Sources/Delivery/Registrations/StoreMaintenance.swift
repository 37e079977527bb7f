import EventLoop
import Registrations

/// The periodic maintenance of the store. It ends expired registrations, deletes old tombstones, and publishes events
/// that remain in the store.
///
/// Loop-bound.
final class StoreMaintenance {
    static let intervalSeconds: Int64 = 60

    private let store: CommandStore
    private let intake: CommandIntake
    private let timer: DeadlineTimer
    private var isStopped = false

    init(_ store: CommandStore, _ intake: CommandIntake) {
        (self.store, self.intake) = (store, intake)
        timer = DeadlineTimer(on: store.loop)
    }

    func start() { wait() }

    /// Prevents further rounds.
    func stop() {
        isStopped = true
        timer.cancel()
    }

    private func wait() {
        if isStopped { return }
        timer.arm(at: store.loop.now.monotonic + .seconds(Self.intervalSeconds), for: self) { $0.begin() }
    }

    private func begin() {
        if isStopped { return }
        guard store.acceptsWork else { return wait() }
        intake.retryDeletions()
        store.maintain(Round(rules: store.rules, by: self))
    }

    /// A round that reports its end to the `StoreMaintenance`.
    private final class Round: Maintenance {
        private let maintenance: StoreMaintenance

        init(rules: RegistrationRules, by maintenance: StoreMaintenance) {
            self.maintenance = maintenance
            super.init(rules: rules)
        }

        override func completed(_ events: [StoredEvent], isComplete: Bool) {
            maintenance.completed(events, isComplete: isComplete, missing: missingKey)
        }

        override func failed(_ fault: StoreFault) { maintenance.failed(fault) }
    }

    /// Publishes and deletes the claimed events. Then begins the next round if work remains.
    private func completed(_ events: [StoredEvent], isComplete: Bool, missing: MissingDataKey?) {
        store.workEnded(nil)
        store.maintenanceOmitted(missing.map { StoreFault($0) })
        intake.relay(events) { [self] in
            if isComplete { wait() } else { begin() }
        }
    }

    private func failed(_ fault: StoreFault) {
        // Only some rows and events need the missing key. Commands that need it fail by themselves.
        if fault.code == .keys { store.maintenanceOmitted(fault) } else { store.workEnded(fault) }
        wait()
    }
}
