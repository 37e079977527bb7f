import AMQP
import TestKit

/// A private broker and the simulator, with all declared that a worker needs between them.
struct WorkerStage {
    static let requests = "push.requests"
    static let results = "push.results"

    let broker: PrivateBroker
    let simulator: ChildProcess
    let session: BrokerSession
    let configuration: String
    private let directory: TemporaryDirectory

    /// - Parameter more: lines of the worker's configuration.
    init(more: String = "") async throws {
        directory = try TemporaryDirectory("bench")
        broker = try await PrivateBroker()
        let simulator = try await SimulatorProcess(in: directory)
        self.simulator = simulator.process
        configuration = try simulator.writeConfiguration(amqpURL: broker.url, more: more)
        try await MartletProcess.run("topology", "apply", "--config", configuration)
        session = try await BrokerSession(broker.url)
    }

    func end() async throws {
        await session.close()
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

    func purge(_ queue: String) async throws {
        _ = try await session.administer { try await $0.purge(queue) }
    }

    /// Publishes so many requests.
    func fill(_ count: Int, round: Int) async throws {
        let template = BenchMessage(round: round)
        try await session.publish(count) { template.message($0, queue: Self.requests) }
    }
}
