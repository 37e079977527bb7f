import TestKit

/// What was counted beside what it is measured by.
struct InstructionReport {
    /// Modules that cost less are one line.
    private static let shownMin = 100

    let options: InstructionOptions
    let count: InstructionCount
    /// What was accepted; for several apps, what the messages of one cost.
    let yardstick: InstructionCount

    var objection: String? {
        count.objection(
            accepted: yardstick,
            growthPercentMax: options.apps == 1
                ? InstructionCount.growthPercentMax : InstructionCount.growthPercentMaxOfApps)
    }

    var table: String {
        let modules = count.modules.filter { max(cost($0, count), cost($0, yardstick)) >= Self.shownMin }
        let rest = (now: count.total - sum(modules, count), yardstick: yardstick.total - sum(modules, yardstick))
        let rows =
            [Self.line("total", count.total, yardstick.total)]
            + modules.map { Self.line($0, cost($0, count), cost($0, yardstick)) }
            + [Self.line("the rest", rest.now, rest.yardstick)]
        return """
            Instructions a message of \(BenchMessage.bytes) bytes: \(options.messages) messages after \
            \(options.warmUp), \(options.inFlight) in flight, of \(options.apps) app\(options.apps == 1 ? "" : "s")

                 now  \(options.apps == 1 ? "accepted" : " one app")   growth
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
