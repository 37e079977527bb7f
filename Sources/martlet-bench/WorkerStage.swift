import AMQP
import TestKit

/// A private broker and the simulator, with all declared that a worker needs between them.
struct WorkerStage {
    static let requests = "push.requests"
    static let results = "push.results"

    let broker: PrivateBroker
    let desk: BrokerDesk
    let configuration: String
    private let directory: TemporaryDirectory
    private let apns: SimulatorProcess

    var simulator: ChildProcess { apns.process }
    var apnsPort: Int { apns.port }
    var authorityFile: String { directory.file("ca.pem") }

    /// - Parameters:
    ///   - apps: bundle IDs.
    ///   - options: more of the simulator's command line.
    ///   - more: lines of the worker's configuration.
    init(
        apps: [String] = BenchMessage.bundleIDs(1), simulator options: [String] = [], more: String = ""
    ) async throws {
        directory = try TemporaryDirectory("bench")
        broker = try await PrivateBroker()
        apns = try await SimulatorProcess(in: directory, options: options + ["--accept-unknown-topics"])
        configuration = try apns.writeConfiguration(amqpURL: broker.url, apps: apps, more: more)
        try await MartletProcess.run("topology", "apply", "--config", configuration)
        desk = try BrokerDesk(broker.url)
    }

    func end() async throws {
        await desk.close()
        try await simulator.terminate()
        try await broker.end()
    }

    func worker() async throws -> ChildProcess { try await MartletProcess.worker(configuration: configuration) }

    func end(_ worker: ChildProcess) async throws {
        let exit = try await worker.terminate()
        guard exit.status == .exited(0) else {
            throw ProcessError("the worker ended with \(exit.status): \(worker.errors.linesSoFar.suffix(5))")
        }
    }

    /// Takes away what is left of requests and results.
    func purge() async throws { for queue in [Self.requests, Self.results] { try await desk.purge(queue) } }

    /// A file with the value of an `authorization` header.
    func writeAuthorization() throws -> String { try directory.write("authorization", apns.authorization()) }

    /// Publishes so many requests.
    func fill(_ count: Int, _ template: BenchMessage) async throws {
        try await desk.publish(count) { template.message($0, queue: Self.requests) }
    }
}
