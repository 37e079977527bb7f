import CommandKit

/// Measures the time from a publish to its result.
struct LatencyCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["latency"],
        summary: "Publish messages at a steady rate, and follow each to its result.",
        options: [
            OptionSyntax(name: "per-second", value: "N,…", help: "rates, one after the other (\(standard.rates[0]))"),
            OptionSyntax(name: "seconds", value: "N", help: "at each rate (\(standard.seconds))"),
            .setting(.delayMilliseconds),
            OptionSyntax(name: "lanes", value: "N", help: "of the worker (\(standard.lanes))"),
            .plot("draw latency over the rate, as SVG; at rates from 100 to 16000 unless some are given"),
            .samples(standard.samples), .quick, .json,
        ])

    private static let standard = LatencyOptions()

    let options: LatencyOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try LatencyOptions(parsed) }

    func measure() async throws {
        let report = try await Latency(options).run()
        print(options.wantsJSON ? report.json : report.table)
        if let plot = options.plot { try ChartSheet(report.chart).write(to: plot) }
    }
}
