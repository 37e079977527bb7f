import Glibc
import TestKit

/// Has h2load push to the floor and to the simulator in turns.
struct SimulatorLoad {
    private let options: SimulatorLoadOptions

    init(_ options: SimulatorLoadOptions) {
        self.options = options
    }

    func run() async throws -> SimulatorLoadReport {
        let directory = try TemporaryDirectory("bench")
        let simulator = try await SimulatorProcess(in: directory, options: ["--gate", "off"])
        let floor = try await ChildProcess([
            Products.executable("floor-sink"), "\(directory.path)/server.pem", "\(directory.path)/server-key.pem",
        ])
        guard let floorPort = Int(try await floor.output.line { _ in true }) else {
            throw ProcessError("floor-sink has no port")
        }
        let load = try LoadGenerator(
            connections: options.connections, streams: options.streams, devices: SimulatorLoadOptions.devices,
            authorization: try simulator.authorization(), in: directory)
        var report = SimulatorLoadReport(options: options)
        for sample in 1...options.samples {
            report.floor.append(try await measure(floor, port: floorPort, load))
            MartletBench.note("\(sample)/\(options.samples)  \(report.floor[sample - 1].line("floor"))")
            report.simulator.append(try await measure(simulator.process, port: simulator.port, load))
            MartletBench.note("\(sample)/\(options.samples)  \(report.simulator[sample - 1].line("simulator"))")
        }
        floor.send(signal: SIGTERM)
        _ = try await floor.exit(within: .seconds(5))
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
