import AMQP
import Actions
import CommandKit
import Configuration
import ControlProtocol
import EventLoop
import Text

/// The status of all workers of a fleet that report.
struct FleetStatus: Equatable, Sendable {
    var broker = BrokerOptions()
    var isJSON = false

    func execute() throws(ConfigurationError) -> ExitCode {
        let connector = try broker.connector()
        return FleetSession.run(connector, command: "martlet status") { session async throws(AMQPError) in
            show(session, unreported: try await session.collectReports(by: PauseNote.operatorName))
        }
    }

    private func show(_ session: FleetSession, unreported: Int) -> ExitCode {
        let now = session.loop.now.monotonic
        let reports = session.view.workers(at: now).filter { $0.presence(at: now) == .reporting }.map(\.report)
        guard isJSON ? printJSON(reports) : printTable(reports) else { return .failed }
        if !isJSON { Terminal.output.line("\n\(reports.count.counted("worker")) reported") }
        if unreported > 0 { Terminal.error.line("martlet: \(Self.unreported(unreported))") }
        guard !reports.isEmpty else { return .unreachable }
        return unreported == 0 && reports.allSatisfy(\.status.isReady) ? .success : .failed
    }

    private func printJSON(_ reports: [FleetReport]) -> Bool {
        reports.allSatisfy { Terminal.output.line(String(decoding: $0.json, as: UTF8.self)) }
    }

    private func printTable(_ reports: [FleetReport]) -> Bool {
        let lines = reports.map { report in
            StatusTable.Line(
                address: report.worker, status: .success(report.status), difference: nil, laneCount: report.laneCount)
        }
        let table = StatusTable(
            lines: lines, seconds: 1, hasColors: Terminal.output.hasColors, window: Terminal.output.window)
        return Terminal.output.write(table.text)
    }

    /// Returns the sentence about consumers that belong to no worker that reports.
    static func unreported(_ count: Int) -> String {
        "\(count.counted("consumer")) at the broker belong\(count == 1 ? "s" : "") to workers that do not report: "
            + "without fleet in their configuration, without its permissions, of an earlier version, or cut off"
    }
}
