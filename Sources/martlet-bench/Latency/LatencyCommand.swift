import CommandKit

/// The command `latency`, which measures the time from publish to result.
struct LatencyCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["latency"],
        summary: "Publish requests at constant rates, and measure the time from publish to result.",
        options: [
            OptionSyntax(name: "per-second", value: "N,…", help: "rates in requests per second (\(standard.rates[0]))"),
            OptionSyntax(name: "seconds", value: "N", help: "duration at each rate in seconds (\(standard.seconds))"),
            .setting(.delayMilliseconds),
            OptionSyntax(name: "lanes", value: "N", help: "lanes of the worker (\(standard.lanes))"),
            .plot("SVG file for a chart of latency by rate; without --per-second, at rates from 100 to 16000"),
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
