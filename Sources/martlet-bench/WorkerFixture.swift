import AMQP
import JSON
import TestKit

/// A private broker and the simulator, with the topology and configuration of a worker.
struct WorkerFixture {
    static let requests = "push.requests"
    static let results = "push.results"

    /// The broker, or the first node of a cluster.
    let broker: PrivateBroker
    private let otherNodes: [PrivateBroker]
    private let shards: [String]
    let testClient: TestBrokerClient
    private(set) var configuration: String
    /// The URL of the broker and the request queues, for configurations.
    private let amqpURL: String
    private let directory: TemporaryDirectory
    private let apns: SimulatorProcess

    var simulator: ChildProcess { apns.process }
    var apnsPort: Int { apns.port }
    var authorityFile: String { directory.file("ca.pem") }

    /// Starts the broker and the simulator, and applies the topology.
    ///
    /// - Parameters:
    ///   - apps: The bundle IDs of the apps.
    ///   - keys: The number of keys, assigned to the apps in rotation. The first key is the simulator's
    ///     demonstration key.
    ///   - shards: The number of shards of the request queue; 1 for a queue without shards.
    ///   - nodes: The number of broker nodes, 1 or 3.
    ///   - options: Additional options of the simulator.
    ///   - more: Additional lines of the worker's configuration.
    init(
        apps: [String] = BenchMessage.bundleIDs(1), keys: Int = 1, shards: Int = 1, nodes: Int = 1,
        simulator options: [String] = [], more: String = ""
    ) async throws {
        directory = try TemporaryDirectory("bench")
        let url: String
        if nodes == 1, shards == 1 {
            broker = try await PrivateBroker()
            (otherNodes, url) = ([], broker.url)
        } else {
            let cluster = try await PrivateCluster(nodes: nodes)
            broker = cluster.nodes[0]
            (otherNodes, url) = (Array(cluster.nodes.dropFirst()), cluster.url)
        }
        self.shards = shards == 1 ? [] : (0..<shards).map { "\(Self.requests).\($0)" }
        let admin = keys > 1 ? ["--admin", "127.0.0.1:0"] : []
        apns = try await SimulatorProcess(in: directory, options: options + admin + ["--accept-unknown-topics"])
        let moreKeyIDs = (1..<keys).map { "BENCHK" + BenchMessage.digits($0, count: 4, radix: 10) }
        for id in moreKeyIDs { try await apns.addKey(id) }
        let queues = shards == 1 ? "" : "\n  request_queues: [{name: \(Self.requests), shards: \(shards)}]"
        amqpURL = "\(url)\(queues)"
        configuration = try apns.writeConfiguration(amqpURL: amqpURL, apps: apps, keys: moreKeyIDs, more: more)
        try await MartletProcess.run("topology", "apply", "--config", configuration)
        testClient = try TestBrokerClient(url)
    }

    func end() async throws {
        await testClient.close()
        try await simulator.terminate()
        for node in otherNodes.reversed() { try await node.end() }
        try await broker.end()
    }

    /// Returns the fixture with another configuration, for workers of one app and one key.
    ///
    /// - Parameters:
    ///   - name: The name of the configuration's file, without `.yaml`.
    ///   - more: Additional lines of the configuration.
    func configured(_ name: String, more: String) throws -> WorkerFixture {
        var fixture = self
        fixture.configuration = try apns.writeConfiguration(amqpURL: amqpURL, more: more, named: name)
        return fixture
    }

    func worker() async throws -> ChildProcess { try await MartletProcess.worker(configuration: configuration) }

    func end(_ worker: ChildProcess) async throws {
        let exit = try await worker.terminate()
        guard exit.status == .exited(0) else {
            throw ProcessError("cannot stop the worker: \(exit.status), \(worker.errors.linesSoFar.suffix(5))")
        }
    }

    /// Returns the processor time that each peer of the measured program has used.
    func peerTimes() async -> [Measurement.Peer: Duration] {
        var ofBroker = await broker.processorTime()
        for node in otherNodes { ofBroker += await node.processorTime() }
        return [.broker: ofBroker, .simulator: simulator.processorTime]
    }

    /// Removes the messages of the request queue, of its shards and of the results queue.
    func purge() async throws {
        for queue in [Self.requests, Self.results] + shards { try await testClient.purge(queue) }
    }

    /// Writes a file with the value of an `authorization` header, and returns its path.
    func writeAuthorization() throws -> String { try directory.write("authorization", apns.authorization()) }

    /// Publishes `count` requests.
    ///
    /// - Parameter inShards: Whether to publish to the exchange of requests, which leads to the shards. Ignored without
    ///   shards.
    func fill(_ count: Int, _ template: BenchMessage, inShards: Bool = false) async throws {
        let isDirect = shards.isEmpty || !inShards
        try await testClient.publish(count) { number in
            var message = template.message(number, queue: Self.requests)
            if !isDirect { message.exchange = Self.requests }
            return message
        }
    }

    /// Removes all requests and results, then publishes `count` requests.
    func refill(_ count: Int, _ template: BenchMessage, inShards: Bool = false) async throws {
        try await purge()
        try await fill(count, template, inShards: inShards)
    }

    /// Returns the number of pushes that the simulator has accepted.
    func acceptedCount() async throws -> Int { try await apns.counters().root["accepted"]?.int ?? 0 }

    /// Checks that no request remains and that there are `count` results.
    func expectCompleted(_ count: Int) async throws {
        var remaining = 0
        for queue in [Self.requests] + shards { remaining += try await testClient.count(in: queue) }
        let results = try await testClient.count(in: Self.results)
        guard remaining == 0, results == count else {
            throw ProcessError("\(remaining) requests remain, and \(results) of \(count) results were published")
        }
    }

    /// Waits until a worker has published exactly `count` results.
    ///
    /// - Throws: `ProcessError` if the worker exits, publishes more results, or needs more than `secondsMax`.
    func awaitResults(_ count: Int, of worker: ChildProcess, secondsMax: Int) async throws {
        let deadline = ContinuousClock.now + .seconds(secondsMax)
        while true {
            let results = try await testClient.count(in: Self.results)
            if results == count { return }
            guard worker.isRunning, results < count, ContinuousClock.now < deadline else {
                throw ProcessError("expected \(count) results, got \(results): \(worker.errors.linesSoFar.suffix(5))")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
