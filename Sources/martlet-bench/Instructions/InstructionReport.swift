import TestKit

/// A count of instructions and the count that limits it.
struct InstructionReport {
    /// The minimum number of instructions per request for a module's own line in the table. The larger one of the
    /// current and the reference number counts.
    private static let shownMin = 100

    let options: InstructionOptions
    let count: InstructionCount
    /// The accepted count; otherwise, the count of requests to device tokens of one app.
    let reference: InstructionCount

    /// The violation of the limit; nil without one. Requests to users have no limit.
    var limitViolation: String? {
        guard options.devices == nil else { return nil }
        return count.limitViolation(
            accepted: reference,
            growthPercentMax: options.apps == 1
                ? InstructionCount.growthPercentMax : InstructionCount.growthPercentMaxOfApps)
    }

    var table: String {
        let modules = count.modules.filter { max(cost($0, count), cost($0, reference)) >= Self.shownMin }
        let rest = (now: count.total - sum(modules, count), reference: reference.total - sum(modules, reference))
        let rows =
            [Self.line("total", count.total, reference.total)]
            + modules.map { Self.line($0, cost($0, count), cost($0, reference)) }
            + [Self.line("other modules", rest.now, rest.reference)]
        return """
            Instructions per push, requests of \(BenchMessage.bytes) bytes: \(options.messages) requests after a warm-up \
            of \(options.warmUp), \(options.inFlight) in flight, \(options.recipients)

                 now  \(referenceName)   growth
            \(rows.joined(separator: "\n"))
            """
    }

    /// The heading of the column of the reference, of eight characters.
    private var referenceName: String {
        if options.isAccepted { return "accepted" }
        return options.devices == nil ? " one app" : "  tokens"
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
