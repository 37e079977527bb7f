import TestKit

/// A measurement of the time from publish to result at constant rates, for a worker and the baselines in alternation.
struct Latency {
    private let options: LatencyOptions

    init(_ options: LatencyOptions) {
        self.options = options
    }

    func run() async throws -> LatencyReport {
        MartletBench.log("private broker and simulator starting")
        let fixture = try await WorkerFixture(
            simulator: ["--delay-ms", "\(options.delayMilliseconds)"], more: "lanes: \(options.lanes)")
        await fixture.testClient.collect(WorkerFixture.results)
        var report = LatencyReport(options: options)
        var round = 0
        for rate in options.rates {
            for sample in 1...options.samples {
                for program in BenchProgram.consumers.order(ofSample: sample) {
                    round += 1
                    let load = PacedLoad(
                        fixture: fixture, rate: rate, seconds: options.seconds, message: BenchMessage(round: round))
                    let figures = try await load.measure(program)
                    report.add(figures, of: program, at: rate)
                    MartletBench.log(
                        "\(rate)/s \(sample)/\(options.samples)  \(LatencyReport.line(program, rate, figures))")
                }
            }
        }
        try await fixture.end()
        return report
    }
}
