import CommandKit

/// The command `growth`, which measures workers at several values of one setting.
struct GrowthCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["growth"],
        summary: "Run end-to-end with baseline-worker at several values of one setting.",
        discussion: "Example: martlet-bench growth --in-flight 10,100,1000",
        options: [.messages(GrowthOptions.messages), .warmUp] + WorkSetting.allCases.map { .setting($0, value: "N,…") }
            + [
                .samples(GrowthOptions.samples), .quick, .json,
                .plot("SVG file for charts of throughput and processor time"),
            ])

    let options: GrowthOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try GrowthOptions(parsed) }

    func measure() async throws {
        let (report, failure) = try await Growth(options).run()
        print(options.work.wantsJSON ? report.json : report.table)
        if let plot = options.plot { try report.sheet.write(to: plot) }
        if let failure { throw failure }
    }
}
