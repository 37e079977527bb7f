import TestKit

/// What was counted beside what was accepted.
struct InstructionReport {
    /// Modules that cost less are one line.
    private static let shownMin = 100

    let options: InstructionOptions
    let count: InstructionCount
    let accepted: InstructionCount

    var objection: String? { count.objection(accepted: accepted) }

    var table: String {
        let modules = count.modules.filter { max(cost($0, count), cost($0, accepted)) >= Self.shownMin }
        let rest = (now: count.total - sum(modules, count), accepted: accepted.total - sum(modules, accepted))
        let rows =
            [Self.line("all", count.total, accepted.total)]
            + modules.map { Self.line($0, cost($0, count), cost($0, accepted)) }
            + [Self.line("the rest", rest.now, rest.accepted)]
        return """
            Instructions a message of \(BenchMessage.bytes) bytes: \(options.messages) messages after \
            \(options.warmUp), \(options.inFlight) in flight

                 now  accepted   growth
            \(rows.joined(separator: "\n"))
            """
    }

    private func cost(_ module: String, _ count: InstructionCount) -> Int { count.byModule[module] ?? 0 }

    private func sum(_ modules: [String], _ count: InstructionCount) -> Int {
        modules.reduce(0) { $0 + cost($1, count) }
    }

    private static func line(_ name: String, _ now: Int, _ accepted: Int) -> String {
        let growth = accepted == 0 ? "new" : percent(Double(now - accepted) / Double(accepted) * 100)
        return Figures.cell(Double(now), places: 0, width: 8) + Figures.cell(Double(accepted), places: 0, width: 10)
            + String(repeating: " ", count: max(1, 9 - growth.count)) + growth + "  \(name)"
    }

    private static func percent(_ percent: Double) -> String {
        (percent < 0 ? "-" : "+") + Figures.decimal(abs(percent), places: 1) + " %"
    }
}
