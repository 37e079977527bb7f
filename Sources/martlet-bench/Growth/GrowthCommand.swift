import CommandKit

/// Measures workers at several values of one setting.
struct GrowthCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["growth"],
        summary: "Do the same as end-to-end beside baseline-worker, over a list of values of one setting.",
        discussion: "One setting has several values: martlet-bench growth --in-flight 10,100,1000",
        options: [.messages(GrowthOptions.messages), .warmUp] + WorkSetting.allCases.map { .setting($0, value: "N,…") }
            + [
                .samples(GrowthOptions.samples), .quick, .json,
                .plot("draw throughput and processor time over the setting, as SVG"),
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
