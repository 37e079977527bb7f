import EventLoop
import Registrations

/// The periodic work of the store that no command causes: expired registrations, old tombstones, and events that must
/// be published.
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

    /// Begins no further round.
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

    /// A round that reports its end.
    private final class Round: Maintenance {
        private let maintenance: StoreMaintenance

        init(rules: RegistrationRules, by maintenance: StoreMaintenance) {
            self.maintenance = maintenance
            super.init(rules: rules)
        }

        override func completed(_ events: [StoredEvent], isComplete: Bool) {
            maintenance.completed(events, isComplete: isComplete)
        }

        override func failed(_ fault: StoreFault) { maintenance.failed(fault) }
    }

    /// Publishes the claimed events. The next round follows at once if work remains.
    private func completed(_ events: [StoredEvent], isComplete: Bool) {
        store.workEnded(nil)
        intake.relay(events) { [self] in
            if isComplete { wait() } else { begin() }
        }
    }

    private func failed(_ fault: StoreFault) {
        store.workEnded(fault)
        wait()
    }
}
