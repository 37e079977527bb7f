import AMQP
import JSON
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
    ///   - keys: of the apps, in turns; the first is the demonstration's.
    ///   - options: more of the simulator's command line.
    ///   - more: lines of the worker's configuration.
    init(
        apps: [String] = BenchMessage.bundleIDs(1), keys: Int = 1, simulator options: [String] = [],
        more: String = ""
    ) async throws {
        directory = try TemporaryDirectory("bench")
        broker = try await PrivateBroker()
        let admin = keys > 1 ? ["--admin", "127.0.0.1:0"] : []
        apns = try await SimulatorProcess(in: directory, options: options + admin + ["--accept-unknown-topics"])
        let moreKeyIDs = (1..<keys).map { "BENCHK" + BenchMessage.digits($0, count: 4, radix: 10) }
        for id in moreKeyIDs { try await apns.addKey(id) }
        configuration = try apns.writeConfiguration(amqpURL: broker.url, apps: apps, keys: moreKeyIDs, more: more)
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

    /// What all but the program that is measured have used by now.
    func peerTimes() async -> [Measurement.Peer: Duration] {
        [.broker: await broker.processorTime(), .simulator: simulator.processorTime]
    }

    /// Takes away what is left of requests and results.
    func purge() async throws { for queue in [Self.requests, Self.results] { try await desk.purge(queue) } }

    /// A file with the value of an `authorization` header.
    func writeAuthorization() throws -> String { try directory.write("authorization", apns.authorization()) }

    /// Publishes so many requests.
    func fill(_ count: Int, _ template: BenchMessage) async throws {
        try await desk.publish(count) { template.message($0, queue: Self.requests) }
    }

    /// Empties both queues, then fills that of the requests.
    func refill(_ count: Int, _ template: BenchMessage) async throws {
        try await purge()
        try await fill(count, template)
    }

    /// How many pushes the simulator has taken by now.
    func acceptedCount() async throws -> Int { try await apns.counters().root["accepted"]?.int ?? 0 }

    /// Makes sure that of so many requests none is left and each has its result.
    func expectDone(_ count: Int) async throws {
        let left = try await desk.count(in: Self.requests)
        let told = try await desk.count(in: Self.results)
        guard left == 0, told == count else {
            throw ProcessError("\(left) requests are left, and \(told) results were told")
        }
    }
}
