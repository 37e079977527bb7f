import TestKit

/// A measurement of the baseline and the simulator, in alternation, under load from h2load.
struct SimulatorLoad {
    private let options: RequestOptions

    init(_ options: RequestOptions) {
        self.options = options
    }

    func run() async throws -> SimulatorLoadReport {
        let directory = try TemporaryDirectory("bench")
        let simulator = try await SimulatorProcess(in: directory, options: ["--gate", "off"])
        let baseline = try await BaselineSink(in: directory)
        let load = try LoadGenerator(options, authorization: simulator.authorization(), in: directory)
        var report = SimulatorLoadReport(options: options)
        for sample in 1...options.samples {
            report.baseline.append(try await measure(baseline.process, port: baseline.port, load))
            MartletBench.log("\(sample)/\(options.samples)  \(report.baseline[sample - 1].line("baseline"))")
            report.simulator.append(try await measure(simulator.process, port: simulator.port, load))
            MartletBench.log("\(sample)/\(options.samples)  \(report.simulator[sample - 1].line("simulator"))")
        }
        try await baseline.end()
        try await simulator.process.terminate()
        return report
    }

    private func measure(_ server: ChildProcess, port: Int, _ load: LoadGenerator) async throws -> LoadMeasurement {
        _ = try await load.run(options.warmUp, port: port)
        let before = server.processorTime
        let rate = try await load.run(options.requests, port: port).requestsPerSecond
        return LoadMeasurement(
            requestsPerSecond: rate,
            processorMicroseconds: (server.processorTime - before).microseconds / Double(options.requests),
            peakMegabytes: Double(server.peakResidentBytes) / 1e6)
    }
}
