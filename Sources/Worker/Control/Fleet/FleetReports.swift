import Configuration
import ControlProtocol
import EventLoop

/// The reports of a worker to its fleet. Runs on the control loop.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class FleetReports: @unchecked Sendable {
    /// The parts of a status whose changes cause an additional report.
    private struct Digest: Equatable {
        let phase: WorkerStatus.Phase
        let isReady: Bool
        let breakers: [String]
        let paused: [String]

        init(_ status: WorkerStatus) {
            (phase, isReady, paused) = (status.phase, status.isReady, status.paused)
            breakers = status.breakers.map { "\($0.route) \($0.code)" }
        }
    }

    /// The interval of the checks for changes.
    private static let checkSeconds = 1

    private let loop: EventLoop
    private let collect: (@escaping (WorkerSnapshot) -> Void) -> Void
    private let publish: (WorkerStatus, _ hasEnded: Bool, _ completion: @escaping () -> Void) -> Void
    private var schedule: ReportSchedule
    private var timer: TimerToken?
    private var digest: Digest?
    /// The task that waits for the last report.
    private var waiter: UnsafeContinuation<Void, Never>?

    /// - Parameters:
    ///   - collect: collects the status of the worker.
    ///   - publish: publishes a report with the status. Calls its last argument once the broker has the report, or the
    ///     publish has failed.
    init(
        _ settings: WorkerConfiguration.Fleet, on loop: EventLoop,
        collect: @escaping (@escaping (WorkerSnapshot) -> Void) -> Void,
        publish: @escaping (WorkerStatus, _ hasEnded: Bool, _ completion: @escaping () -> Void) -> Void
    ) {
        (self.loop, self.collect, self.publish) = (loop, collect, publish)
        schedule = ReportSchedule(intervalSeconds: settings.reportIntervalSeconds, seed: loop.nextRandom())
    }

    func start() {
        handle(.started)
        scheduleCheck()
    }

    /// Reports a change, at most once a second.
    func changed() { handle(.changed) }

    /// Reports now, or a second after the last report, and then each second for a time.
    func commanded(seconds: Int) { handle(.commanded(seconds: seconds)) }

    /// Publishes the last report. Returns once the broker has the report, or the publish has failed.
    func end() async {
        await withUnsafeContinuation { continuation in
            waiter = continuation
            handle(.drained)
        }
    }

    /// Stops without a last report.
    func stop() { handle(.stopped) }

    private func scheduleCheck() {
        loop.schedule(after: .seconds(Self.checkSeconds)) { [self] in
            collect { [self] snapshot in
                guard schedule.state != .ended else { return }
                if digest != Digest(snapshot.status) { handle(.changed) }
                scheduleCheck()
            }
        }
    }

    private func handle(_ event: ReportSchedule.Event) {
        for action in schedule.handle(event, now: loop.now.monotonic) {
            switch action {
            case .report(let hasEnded): report(hasEnded: hasEnded)
            case .setTimer(let time):
                if let timer { loop.cancel(timer) }
                timer = time.map { loop.schedule(at: $0) { [self] in handle(.timerFired) } }
            }
        }
    }

    private func report(hasEnded: Bool) {
        collect { [self] snapshot in
            // The schedule may have ended during the collection.
            guard hasEnded || schedule.state != .ended else { return }
            digest = Digest(snapshot.status)
            publish(snapshot.status, hasEnded) { [self] in
                if hasEnded { waiter.take()?.resume() }
            }
        }
    }
}
