import AMQP
import Crypto
import Glibc
import JSON
import TestKit
import Testing

/// A topology with its own prefix, a simulator, and a worker configuration that connects to both.
struct SystemFixture {
    let prefix: String
    let testClient: TestBrokerClient
    let apns: SimulatorProcess
    let directory: TemporaryDirectory
    /// The path of the workers' configuration file.
    let configuration: String
    private let delays: [String]
    private let brokerURL: String

    private static let topologyAttemptsMax = 3
    /// The exit status of a command without an answer of the broker.
    private static let unreachable: Int32 = 3

    /// Starts a simulator and writes the configuration. Does not apply the topology.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the topology's names. Tests that run at the same time need different prefixes.
    ///   - broker: The `amqp` URL that the test itself uses; nil for the shared broker.
    init(_ prefix: String, broker: String? = nil, _ options: Options = Options()) async throws {
        self.prefix = prefix
        delays = options.delays
        directory = try TemporaryDirectory("system")
        let url: String
        if let broker { url = broker } else { url = try await PrivateBroker.shared.url }
        brokerURL = url
        testClient = try TestBrokerClient(url)
        let sandbox = options.hasSandbox ? ["--listen", "127.0.0.1:0"] : []
        apns = try await SimulatorProcess(
            in: directory,
            options: ["--admin", "127.0.0.1:0", "--accept-unknown-devices", "--record", directory.file("record")]
                + sandbox + options.simulator)
        for key in options.keys { try await key.register(at: apns, in: directory) }
        for certificate in options.certificates { try await certificate.register(at: apns, in: directory) }
        if let key = options.keyPEM { try directory.write("other.p8", key) }
        if let authority = options.brokerAuthority { try directory.write("broker-ca.pem", authority) }
        if let identity = options.brokerIdentity {
            try directory.write("worker.pem", identity.certificatePEM)
            try directory.write("worker.key", identity.privateKeyPEM)
        }
        for (name, text) in options.files { try directory.write(name, text) }
        for (name, text) in options.secrets { try #require(chmod(directory.write(name, text), 0o600) == 0) }
        configuration = try directory.write(
            "martlet.yaml", options.configuration(prefix: prefix, brokerURL: url, apns))
    }

    /// Replaces the configuration file.
    func write(_ options: Options) throws {
        try replace("martlet.yaml", options.configuration(prefix: prefix, brokerURL: brokerURL, apns))
    }

    /// Replaces a file atomically, as editors and deployments do.
    func replace(_ name: String, _ text: String) throws {
        let new = try directory.write(name + ".new", text)
        try #require(rename(new, directory.file(name)) == 0)
    }

    var simulator: ChildProcess { apns.process }
    /// The port of the simulator's production endpoint.
    var port: UInt16 { UInt16(apns.port) }

    /// Returns the name of a queue or exchange with the topology's prefix.
    func queue(_ word: String) -> String { "\(prefix).\(word)" }

    /// The names of the wait queues, which are also the names of their exchanges.
    var waitQueues: [String] { delays.flatMap { delay in (1...3).map { "\(prefix).wait.\(delay).\($0)" } } }

    /// Declares the objects of the configuration. Repeats the command while the broker does not answer in time, because
    /// the suites share a broker.
    func applyTopology() async throws {
        let command = [try Products.executable("martlet"), "topology", "apply", "--config", configuration]
        var result = try await ChildProcess.run(command)
        for _ in 1..<Self.topologyAttemptsMax where result.exit.status == .exited(Self.unreachable) {
            result = try await ChildProcess.run(command)
        }
        try #require(result.exit.status == .exited(0), "\(result.errors)")
    }

    /// Starts a worker and does not wait until it is ready.
    ///
    /// - Parameter environment: Arguments of `env`, which change the environment that the worker inherits.
    func startWorker(_ environment: [String] = []) async throws -> ChildProcess {
        try await ChildProcess(
            ["/usr/bin/env"] + environment + [Products.executable("martlet"), "worker", "--config", configuration])
    }

    /// Starts a worker and waits until it is ready.
    func worker(_ environment: [String] = []) async throws -> ChildProcess {
        let worker = try await startWorker(environment)
        try await worker.waitForLog("ready")
        return worker
    }

    func publish(_ samples: [Sample]) async throws {
        try await testClient.publish(samples.map { $0.message(to: prefix) })
    }

    /// Consumes and returns the requests in the request queue. Waits for at least `count`.
    func remainingRequests(_ count: Int) async throws -> [IncomingMessage] {
        await testClient.collect(queue("requests"))
        try await testClient.collected(queue("requests"), atLeast: count)
        let more = try await testClient.getAll(from: queue("requests"))
        return await testClient.collected(queue("requests")) + more
    }

    /// Waits until a queue of the topology, such as `results`, has exactly `count` messages that no consumer received.
    func waitForMessages(_ count: Int, in word: String) async throws {
        try await poll(until: "\(count) messages in \(word)") {
            try await testClient.count(in: queue(word)) == count
        }
    }

    /// Consumes and returns the messages in the wait queues.
    func drainWaitQueues() async throws -> [IncomingMessage] {
        var messages: [IncomingMessage] = []
        for queue in waitQueues { messages += try await testClient.getAll(from: queue) }
        return messages
    }

    /// Checks that the request, expired, unrouted and wait queues are empty, and that there are `dead` dead letters.
    /// Consumes the messages in all these queues.
    func expectNothingLeft(dead: Int = 0, _ sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for queue in ["requests", "expired", "dead", "unrouted"].map({ queue($0) }) + waitQueues {
            let count = try await testClient.getAll(from: queue).count
            #expect(count == (queue == self.queue("dead") ? dead : 0), "\(queue)", sourceLocation: sourceLocation)
        }
    }

    /// Waits until the simulator has at least `count` unanswered requests.
    ///
    /// - Parameter counter: The simulator's counter to read. With `in_flight_max`, an earlier maximum also counts.
    func waitForUnansweredRequests(
        _ count: Int, counter: String = "in_flight", within deadline: Duration = .seconds(30)
    ) async throws {
        try await poll(until: "\(count) unanswered requests", within: deadline, every: .zero) {
            try await apns.counters().root[key: counter]?.int ?? 0 >= count
        }
    }

    /// Closes the test's connections, stops the simulator, and returns the simulator's record.
    @discardableResult
    func end() async throws -> [JSONDocument] {
        await testClient.close()
        #expect(try await simulator.terminate().status == .exited(0))
        return try recorded()
    }

    /// Returns the pushes that a simulator has recorded so far.
    func recorded(in file: String = "record") throws -> [JSONDocument] {
        try Files.lines(of: directory.file(file)).map { try JSONDocument($0) }
    }
}

extension ChildProcess {
    /// Waits until a worker logs a message, and returns the log line.
    @discardableResult
    func waitForLog(_ message: String) async throws -> JSONDocument {
        let text = #""message":"\#(message)""#
        return try JSONDocument(await errors.line { $0.contains(text) })
    }

    /// The lines that a worker has logged so far.
    var logged: [JSONDocument] { get throws { try errors.linesSoFar.map { try JSONDocument($0) } } }

    /// Returns how often a worker has logged a message so far.
    func count(of message: String) throws -> Int { try logged.count { $0.root["message"]?.string == message } }

    /// Returns the errors that a worker has logged with a message so far.
    func errors(of message: String) throws -> [String] {
        try logged.filter { $0.root["message"]?.string == message }.map { $0.root["error"]?.string ?? "-" }
    }

    /// Stops a worker with SIGTERM, checks its exit status, and returns its last log line.
    func stop(_ sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSONDocument {
        #expect(try await terminate().status == .exited(0), sourceLocation: sourceLocation)
        let last = try JSONDocument(#require(await errors.allLines().last))
        #expect(last.root["message"]?.string == "stopped", sourceLocation: sourceLocation)
        return last
    }
}

extension IncomingMessage {
    /// The body, parsed as JSON.
    var json: JSONDocument { get throws { try JSONDocument(body) } }
}

extension IncomingMessage {
    /// Returns a string header; "-" if the header is missing or is no string.
    func header(_ name: String) -> String { properties.header(name)?.stringValue ?? "-" }
}
