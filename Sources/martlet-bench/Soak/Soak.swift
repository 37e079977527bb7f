import TestKit

/// A measurement of the simulator's memory under load from h2load, in phases with different faults.
///
/// Each phase uses new connections.
struct Soak {
    private static let connections = 20
    private static let streams = 50
    private static let connectionRequestsPerSecond = 100
    /// The maximum rate of the load.
    static let requestsPerSecond = connections * connectionRequestsPerSecond

    private let options: SoakOptions

    init(_ options: SoakOptions) {
        self.options = options
    }

    func run() async throws -> SoakReport {
        let directory = try TemporaryDirectory("soak")
        let simulator = try await SimulatorProcess(
            in: directory, options: ["--gate", "off", "--admin", "127.0.0.1:0"])
        let start = ContinuousClock.now
        let end = start + .seconds(60 * options.minutes)
        var report = SoakReport(options: options)
        while ContinuousClock.now < end {
            for phase in SoakPhase.all where ContinuousClock.now < end {
                try await applyFaults(of: phase, to: simulator)
                let load = try LoadGenerator(
                    connections: Self.connections, streams: Self.streams, devices: RequestOptions.devices,
                    authorization: try simulator.authorization(), in: directory)
                let hasFinished = try await load.run(
                    for: .seconds(options.phaseSeconds), requestsPerSecond: Self.connectionRequestsPerSecond,
                    port: simulator.port)
                guard simulator.process.isRunning else {
                    throw ProcessError("the simulator exited: \(simulator.process.errors.linesSoFar.suffix(5))")
                }
                report.add(
                    SoakReport.Sample(
                        minute: (ContinuousClock.now - start).microseconds / 60e6, phase: phase.name,
                        megabytes: Double(simulator.process.residentBytes) / 1e6),
                    hasFinished: hasFinished)
            }
        }
        report.counters = try await simulator.request("GET", "/v1/counters")
        try await simulator.process.terminate()
        return report
    }

    /// Replaces all faults of the simulator with the faults of a phase.
    private func applyFaults(of phase: SoakPhase, to simulator: SimulatorProcess) async throws {
        try await simulator.request("DELETE", "/v1/faults")
        for fault in phase.faults { try await simulator.request("POST", "/v1/faults", fault) }
    }
}
