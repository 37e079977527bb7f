import AdminHTTP
import EventLoop
import Telemetry

/// The counts of connections that the admin endpoint closes because of a limit, by cause. Logs how many connections
/// are closed in favor of other connections. Runs on the control loop.
final class AdminClosings {
    private let counters: [AdminClosing: Counter]
    private let report: DisplacementReport

    init(loop: EventLoop, _ metrics: MetricsRegistry, log: Log) {
        counters = Dictionary(
            uniqueKeysWithValues: AdminClosing.allCases.map { cause in
                let counter = metrics.counter(
                    "martlet_admin_connections_closed_total",
                    help: "Connections that the admin endpoint or the control socket closed "
                        + "before the client had an answer.",
                    labels: ["cause": cause.rawValue])
                return (cause, counter)
            })
        report = DisplacementReport(loop: loop) { count in
            log.warning(.adminConnectionsClosed, [.adminConnections: .integer(count)])
        }
    }

    func add(_ cause: AdminClosing) {
        counters[cause]?.add()
        report.add(cause)
    }
}
