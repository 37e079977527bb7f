import AdminHTTP
import EventLoop
import Telemetry

/// Counts the connections that the admin endpoints close, and logs those that were displaced. On the control loop.
final class AdminClosings {
    /// Seconds for which displaced connections are counted into one line.
    private static let reportSeconds = 60

    private let loop: EventLoop
    private let log: Log
    private let counters: [AdminClosing: Counter]
    /// Displaced since the last line.
    private var displaced = 0
    private var isReportScheduled = false

    init(loop: EventLoop, _ metrics: MetricsRegistry, log: Log) {
        self.loop = loop
        self.log = log
        counters = Dictionary(
            uniqueKeysWithValues: AdminClosing.allCases.map { cause in
                let counter = metrics.counter(
                    "martlet_admin_connections_closed_total",
                    help: "Connections that the admin endpoint closed before the client had an answer.",
                    labels: ["cause": cause.rawValue])
                return (cause, counter)
            })
    }

    func add(_ cause: AdminClosing) {
        counters[cause]?.add()
        guard cause.isDisplaced else { return }
        displaced += 1
        guard !isReportScheduled else { return }
        report()
    }

    /// Logs the first at once, the others a minute later.
    private func report() {
        isReportScheduled = displaced > 0
        guard displaced > 0 else { return }
        log.warning(.adminConnectionsClosed, [.adminConnections: .integer(displaced)])
        displaced = 0
        loop.schedule(after: .seconds(Self.reportSeconds)) { [self] in report() }
    }
}
