import Delivery

/// What `martlet status` draws: workers, what is held up, and queues.
struct StatusTable {
    /// One worker at one look.
    struct Line {
        var address: String
        var report: Result<WorkerReport, WorkerReportError>
        /// Since the look before; nil at the first.
        var difference: WorkerTotals?
    }

    let lines: [Line]
    /// Between the two looks.
    let seconds: Double
    let hasColors: Bool

    var text: String { ([workers] + reasons + heldUp + queues).joined() }

    private var reports: [WorkerReport] { lines.compactMap { try? $0.report.get() } }

    private var workers: String {
        let titles = [
            "WORKER", "STATE", "UP", "LANES", "IN FLIGHT", "TAKEN/S", "ACCEPTED/S", "REFUSED/S", "RETRIED/S", "HELD/S",
            "P50", "P99",
        ]
        let rows = lines.map { line -> [String] in
            guard case .success(let report) = line.report else { return [line.address, "unreachable"] }
            var row = [
                report.worker, Self.state(report), Self.duration(report.uptimeSeconds), "\(report.lanes)",
                "\(report.inFlight)",
            ]
            guard let done = line.difference else { return row }
            let refused = done.ended(.rejected) + done.ended(.invalid) + done.ended(.expired) + done.ended(.unknown)
            row += [done.taken, done.ended(.accepted), refused, done.retried, done.held].map(rate)
            row += [0.5, 0.99].map { done.milliseconds(ofQuantile: $0).map { "\($0) ms" } ?? "-" }
            return row
        }
        let table = TextTable(titles: titles, fitting: rows)
        let body = zip(lines, rows).map { line, row in
            tint(of: line).map { $0.applied(to: table.line(row), if: hasColors) } ?? table.line(row)
        }
        return Self.block([Tint.heading.applied(to: table.header, if: hasColors)] + body)
    }

    private func tint(of line: Line) -> Tint? {
        guard case .success(let report) = line.report else { return .bad }
        return report.isReady ? nil : .warning
    }

    private static func state(_ report: WorkerReport) -> String {
        if report.isReady { return report.heldUp.isEmpty && report.paused.isEmpty ? "ready" : "ready, some held" }
        if report.paused.contains("everything") { return "paused" }
        return report.phase == "running" ? "not ready" : report.phase
    }

    /// Why workers are not ready, or cannot be asked.
    private var reasons: [String] {
        let sentences = lines.flatMap { line -> [String] in
            switch line.report {
            case .success(let report): report.reasons.map { "\(report.worker): \($0)" }
            case .failure(let error): ["\(line.address): \(error.message)"]
            }
        }
        return sentences.isEmpty ? [] : ["\n" + Self.block(sentences.map(\.printable))]
    }

    private var heldUp: [String] {
        var rows = reports.flatMap { report in
            report.heldUp.map { [$0.route, $0.code, Self.duration($0.seconds), $0.sentence] }
        }
        rows += reports.flatMap { report in
            report.paused.map { [$0, "paused", "-", "\(PauseScope.remedy(of: $0)) lets it go on"] }
        }
        // Several workers say the same of what they share.
        rows = rows.enumerated().filter { index, row in !rows[..<index].contains { $0[0] == row[0] } }.map(\.element)
        return section(["HELD UP", "CODE", "SINCE", "WHAT"], rows)
    }

    private var queues: [String] {
        var rows: [[String]] = []
        for queue in reports.flatMap(\.queues) where !rows.contains(where: { $0[0] == queue.name }) {
            // Of the many wait queues only those that hold something.
            guard queue.messages > 0 || queue.consumers > 0 else { continue }
            rows.append([queue.name, "\(queue.messages)", "\(queue.consumers)"])
        }
        return section(["QUEUE", "MESSAGES", "CONSUMERS"], rows)
    }

    private func section(_ titles: [String], _ rows: [[String]]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let table = TextTable(titles: titles, fitting: rows)
        return ["\n" + Self.block([Tint.heading.applied(to: table.header, if: hasColors)] + rows.map(table.line))]
    }

    private static func block(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

    private func rate(_ count: Int) -> String {
        let rate = Double(count) / max(seconds, 0.001)
        return rate == 0 ? "0" : rate < 10 ? "\((rate * 10).rounded() / 10)" : "\(Int(min(rate, 1e15).rounded()))"
    }

    /// `45s`, `3m 20s`, `2h 5m`, `4d 1h`.
    static func duration(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m \(seconds % 60)s"
        case ..<86_400: "\(seconds / 3600)h \(seconds % 3600 / 60)m"
        default: "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
        }
    }
}
