import CommandKit

/// The command `history`, which measures indexing and queries of the console's history without a broker.
struct HistoryBenchCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["history"],
        summary: "Measure indexing and queries of the console's history.",
        discussion: """
            The benchmark writes results to a history in temporary files, as the console does, with one commit for about
            4 MB of the journal. It then finds requests by id, device token, user and code. It prints each goal with the
            measured value, and fails if a goal is not met.

            The goals apply to ten million results: martlet-bench history --rows 10000000
            """,
        options: [ConsoleOptions.rowsOption, .quick, .json])

    let options: ConsoleOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try ConsoleOptions(parsed) }

    func measure() async throws {
        var report = ConsoleReport(benchmark: "history", options: options)
        _ = try HistoryBench(options: options).run(&report)
        try report.finish()
    }
}
