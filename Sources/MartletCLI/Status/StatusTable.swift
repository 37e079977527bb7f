import BrokerTopology
import CommandKit
import ControlProtocol
import Delivery
import Registrations
import Text

/// The output of `martlet status`: workers, held routes, apps at their limits, and queues.
struct StatusTable {
    /// The status of one worker in one snapshot.
    struct Line {
        var address: String
        var status: Result<WorkerStatus, StatusError>
        /// The change since the previous snapshot; nil if it is unknown, for example because the worker is new.
        var difference: WorkerTotals?
        /// The number of lanes, for a status without lanes; nil to count the lanes of the status.
        var laneCount: Int?
    }

    let lines: [Line]
    /// Time between the two snapshots, in seconds.
    let seconds: Double
    let hasColors: Bool
    /// The window that limits the size of tables; nil for no limit.
    var window: Terminal.Window?
    /// Whether the table is redrawn in place. Each line is then cut to the width of the window, and the table to the
    /// height of the window.
    var isRedrawn = false

    var text: String {
        let text = ([workers] + sentences + heldRoutes + limitedApps + queues).joined()
        guard isRedrawn, let window else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        // The last row is for the cursor.
        let rows = max(1, window.rows - 1)
        guard lines.count > rows else { return text }
        let left = lines.count - rows + 1
        return Self.block(lines.prefix(rows - 1).map { String($0) } + ["… \(left) more lines; press q to quit"])
    }

    /// Columns that a narrow window shortens or omits, in this order.
    private static let economies: [FittedTable.Economy] = [
        ("LANES", 0), ("P50", 0), ("UP", 0), ("RETRIED/S", 0), ("TAKEN/S", 0), ("HELD/S", 0), ("P99", 0),
        ("WORKER", 16), ("REFUSED/S", 0), ("IN FLIGHT", 0), ("WORKER", 8), ("STATE", 8),
    ]

    private var width: Int? { window?.columns }

    /// Returns a line of text, cut to the window's width if lines must not wrap.
    private func sentence(_ text: String) -> String {
        guard isRedrawn, let width else { return text }
        return text.shortened(to: width)
    }

    private var statuses: [WorkerStatus] { lines.compactMap { try? $0.status.get() } }

    private var workers: String {
        let titles = [
            "WORKER", "STATE", "UP", "LANES", "IN FLIGHT", "TAKEN/S", "ACCEPTED/S", "REFUSED/S", "RETRIED/S", "HELD/S",
            "P50", "P99",
        ]
        let rows = lines.map { line -> [String] in
            guard case .success(let status) = line.status else { return [line.address, "unreachable"] }
            var row = [
                status.worker, Self.state(status), ElapsedTime.text(seconds: status.uptimeSeconds),
                "\(line.laneCount ?? status.lanes.count)",
                "\(status.inFlight)",
            ]
            guard let done = line.difference else { return row }
            let refused = [.rejected, .invalid, .expired, .unknown].reduce(0) { $0 &+ done.ended($1) }
            row += [done.taken, done.ended(.accepted), refused, done.retried, done.held].map(rate)
            row += [0.5, 0.99].map { done.milliseconds(ofQuantile: $0).map { "\($0) ms" } ?? "-" }
            return row
        }
        let table = FittedTable(titles: titles, fitting: rows, width: width, Self.economies)
        let body = zip(lines, rows).map { line, row in
            tint(of: line).map { $0.applied(to: table.line(row), if: hasColors) } ?? table.line(row)
        }
        return Self.block([Tint.heading.applied(to: table.header, if: hasColors)] + body)
    }

    private func tint(of line: Line) -> Tint? {
        guard case .success(let status) = line.status else { return .bad }
        return status.isReady ? nil : .warning
    }

    private static func state(_ status: WorkerStatus) -> String {
        if status.isReady { return status.breakers.isEmpty && status.paused.isEmpty ? "ready" : "ready, some held" }
        if status.paused.contains("everything") { return "paused" }
        return status.phase == .running ? "not ready" : status.phase.rawValue
    }

    /// Reasons why workers are unreachable or not ready, the state of device registrations, and the retired lanes of
    /// previous configurations.
    private var sentences: [String] {
        let sentences = lines.flatMap { line -> [String] in
            switch line.status {
            case .success(let status):
                (status.reasons + Self.registrations(status) + Self.retiredLanes(status))
                    .map { "\(status.worker): \($0)" }
            case .failure(let error): ["\(line.address): \(error.message)"]
            }
        }
        return sentences.isEmpty ? [] : ["\n" + Self.block(sentences.map { sentence($0.printable) })]
    }

    /// Returns lines about failures, and about the data keys during their replacement.
    private static func registrations(_ status: WorkerStatus) -> [String] {
        guard let registrations = status.registrations else { return [] }
        let keys = registrations.dataKeys
        return
            (registrations.reasons + (keys.count > 1 ? ["data keys \(keys.map(\.text).joined(separator: ", "))"] : []))
            .map { "registrations: \($0)" }
    }

    private static func retiredLanes(_ status: WorkerStatus) -> [String] {
        let reports = status.retiredLanes.map(\.report)
        guard !reports.isEmpty else { return [] }
        let failure = reports.lazy.compactMap { $0?.publishingFailure }.first
        let why = failure.map { ": cannot publish outcomes: \($0)" } ?? ""
        let messages = reports.reduce(0) { $0 &+ ($1?.inFlight ?? 0) }
        return ["lanes of a previous configuration: \(reports.count), requests in flight: \(messages)\(why)"]
    }

    private var heldRoutes: [String] {
        var rows: [(holding: HeldRoute, workers: [String])] = []
        for status in statuses {
            for holding in status.breakers.map({ HeldRoute($0) })
                + status.scopesAndPauses.map({ HeldRoute(pause: $0, $1) })
            {
                // Workers share routes and report the same breaker or pause, each with its own start time.
                if let known = rows.firstIndex(where: { $0.holding.isSame(as: holding) }) {
                    rows[known].workers.append(status.worker)
                    rows[known].holding.seconds = [rows[known].holding.seconds, holding.seconds].compactMap(\.self)
                        .max()
                } else {
                    rows.append((holding, [status.worker]))
                }
            }
        }
        let hasSeveral = statuses.count > 1
        return section(
            ["HELD", "CODE", "SINCE"] + (hasSeveral ? ["WORKER"] : []) + ["DETAIL"],
            rows.flatMap { holding, workers in
                // A row that applies to all workers is one line.
                (workers.count == statuses.count ? ["all"] : workers).map { worker in
                    [holding.route, holding.code, holding.seconds.map { ElapsedTime.text(seconds: $0) } ?? "-"]
                        + (hasSeveral ? [worker] : []) + [holding.detail]
                }
            })
    }

    /// The table of apps at their limits. Each worker applies the limits separately.
    private var limitedApps: [String] {
        let hasSeveral = statuses.count > 1
        return section(
            ["LIMITED APP", "SINCE", "BEHIND", "IN FLIGHT"] + (hasSeveral ? ["WORKER"] : []),
            statuses.flatMap { status in
                status.limitedApps.map { app in
                    [
                        app.bundleID, ElapsedTime.text(seconds: app.secondsLimited),
                        ElapsedTime.text(seconds: app.secondsBehind),
                        "\(app.inFlight)",
                    ]
                        + (hasSeveral ? [status.worker] : [])
                }
            })
    }

    private var queues: [String] {
        let hasSeveral = Set(statuses.map(\.broker)).count > 1
        var rows: [[String]] = []
        for status in statuses {
            let seen = status.queuesSecondsOld.map { ElapsedTime.text(seconds: $0) + " ago" } ?? "-"
            for queue in QueueRow.rows(status.queues) {
                let name = [queue.name] + (hasSeveral ? [status.broker] : [])
                // Omit wait queues without messages and consumers.
                guard queue.messages > 0 || queue.consumers > 0 || !queue.name.contains(".\(TopologyNames.waitWord)."),
                    !rows.contains(where: { $0.starts(with: name) })
                else { continue }
                let fullest = queue.fullest.map { " (\($0))" } ?? ""
                rows.append(name + ["\(queue.messages)\(fullest)", "\(queue.consumers)", seen])
            }
        }
        return section(["QUEUE"] + (hasSeveral ? ["BROKER"] : []) + ["MESSAGES", "CONSUMERS", "CHECKED"], rows)
    }

    private func section(_ titles: [String], _ rows: [[String]]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let table = TextTable(titles: titles, fitting: rows)
        let header = Tint.heading.applied(to: sentence(table.header), if: hasColors)
        return ["\n" + Self.block([header] + rows.map { sentence(table.line($0)) })]
    }

    private static func block(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

    private func rate(_ count: Int) -> String {
        let rate = Double(count) / max(seconds, 0.001)
        return rate == 0 ? "0" : rate < 10 ? "\((rate * 10).rounded() / 10)" : "\(Int(min(rate, 1e15).rounded()))"
    }
}

/// A route that a breaker or a pause holds.
private struct HeldRoute {
    var route: String
    var code: String
    var sentence: String
    /// The time for which the route has been held, in seconds; nil if the worker does not report the time.
    var seconds: Int?
    /// The planned end of a pause.
    private var end: String?

    /// The sentence with the planned end, which differs slightly between workers.
    var detail: String { (end.map { "\($0); " } ?? "") + sentence }

    init(_ breaker: WorkerStatus.OpenBreaker) {
        (route, code, sentence) = (breaker.route, breaker.code, breaker.sentence)
        seconds = breaker.secondsOpen
    }

    /// Creates the row of a paused route.
    ///
    /// - Parameter report: nil if the worker reports only the paused route.
    init(pause: String, _ report: PauseReport?) {
        let note = report?.note.text.map { "\($0); " } ?? ""
        (route, code) = (pause, "paused")
        sentence = "\(note)to resume, run: \(report?.remedy ?? PauseScope.remedy(of: pause))"
        seconds = report?.seconds
        end = report?.end
    }

    func isSame(as other: Self) -> Bool { (route, code, sentence) == (other.route, other.code, other.sentence) }
}
