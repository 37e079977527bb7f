import AMQP
import Crypto
import Glibc
import JSON
import TestKit
import Testing

/// A broker with names of the test's own, a simulator, and a configuration that leads to both.
struct SystemFixture {
    let prefix: String
    let testClient: TestBrokerClient
    let apns: SimulatorProcess
    let directory: TemporaryDirectory
    /// The file that its workers read.
    let configuration: String
    private let delays: [String]
    private let brokerURL: String

    /// - Parameter broker: its plain URL, for the test itself; nil: the one that all share.
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
        configuration = try directory.write(
            "martlet.yaml", options.configuration(prefix: prefix, brokerURL: url, apns))
    }

    /// Has the configuration say something else from now on.
    func write(_ options: Options) throws {
        try replace("martlet.yaml", options.configuration(prefix: prefix, brokerURL: brokerURL, apns))
    }

    /// A file has another content at once, as editors and deployments do it.
    func replace(_ name: String, _ text: String) throws {
        let new = try directory.write(name + ".new", text)
        try #require(rename(new, directory.file(name)) == 0)
    }

    var simulator: ChildProcess { apns.process }
    /// Where the simulator listens.
    var port: UInt16 { UInt16(apns.port) }

    /// The name of the queue of requests, results, dead letters and so on.
    func queue(_ word: String) -> String { "\(prefix).\(word)" }

    /// The queues in which messages wait to be tried again, and the exchanges that lead to them.
    var waitQueues: [String] { delays.flatMap { delay in (1...3).map { "\(prefix).wait.\(delay).\($0)" } } }

    func applyTopology() async throws {
        let result = try await ChildProcess.run([
            Products.executable("martlet"), "topology", "apply", "--config", configuration,
        ])
        try #require(result.exit.status == .exited(0), "\(result.errors)")
    }

    /// A worker that has been started, and may not be ready yet.
    ///
    /// - Parameter environment: as `env` takes it, besides that of the tests.
    func startWorker(_ environment: [String] = []) async throws -> ChildProcess {
        try await ChildProcess(
            ["/usr/bin/env"] + environment + [Products.executable("martlet"), "worker", "--config", configuration])
    }

    /// A worker that is ready.
    func worker(_ environment: [String] = []) async throws -> ChildProcess {
        let worker = try await startWorker(environment)
        try await worker.said("ready")
        return worker
    }

    func publish(_ samples: [Sample]) async throws {
        try await testClient.publish(samples.map { $0.message(to: prefix) })
    }

    /// Takes the requests that are still in their queue, of which there should be so many.
    func remainingRequests(_ count: Int) async throws -> [IncomingMessage] {
        await testClient.collect(queue("requests"))
        try await testClient.collected(queue("requests"), atLeast: count)
        let more = try await testClient.getAll(from: queue("requests"))
        return await testClient.collected(queue("requests")) + more
    }

    /// Takes the messages that wait to be tried again.
    func drainWaitQueues() async throws -> [IncomingMessage] {
        var taken: [IncomingMessage] = []
        for queue in waitQueues { taken += try await testClient.getAll(from: queue) }
        return taken
    }

    /// Checks that no message is anywhere but among the results and, so many, among the dead letters.
    func expectNothingLeft(dead: Int = 0, _ sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for queue in ["requests", "expired", "dead", "unrouted"].map({ queue($0) }) + waitQueues {
            let count = try await testClient.getAll(from: queue).count
            #expect(count == (queue == self.queue("dead") ? dead : 0), "\(queue)", sourceLocation: sourceLocation)
        }
    }

    /// Waits until the simulator has so many requests that it has not answered.
    ///
    /// - Parameter counter: `in_flight_max`: has or had.
    func waitForUnansweredRequests(
        _ count: Int, counter: String = "in_flight", within deadline: Duration = .seconds(30)
    ) async throws {
        try await poll(until: "\(count) unanswered requests", within: deadline, every: .zero) {
            try await apns.counters().root[key: counter]?.int ?? 0 >= count
        }
    }

    /// Ends simulator and connections; what the simulator recorded.
    @discardableResult
    func end() async throws -> [JSONDocument] {
        await testClient.close()
        #expect(try await simulator.terminate().status == .exited(0))
        return try recorded()
    }

    /// What a simulator recorded by now.
    func recorded(in file: String = "record") throws -> [JSONDocument] {
        try Files.lines(of: directory.file(file)).map { try JSONDocument($0) }
    }
}

extension ChildProcess {
    /// Waits until a worker has logged a message.
    @discardableResult
    func said(_ message: String) async throws -> JSONDocument {
        let text = #""message":"\#(message)""#
        return try JSONDocument(await errors.line { $0.contains(text) })
    }

    /// What a worker has logged by now.
    var logged: [JSONDocument] { get throws { try errors.linesSoFar.map { try JSONDocument($0) } } }

    /// How often a worker has logged a message by now.
    func count(of message: String) throws -> Int { try logged.count { $0.root["message"]?.string == message } }

    /// The errors that a worker has logged with a message by now.
    func errors(of message: String) throws -> [String] {
        try logged.filter { $0.root["message"]?.string == message }.map { $0.root["error"]?.string ?? "-" }
    }

    /// Tells a worker to stop and waits for its end, which must be in order; its last log line.
    func stop(_ sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSONDocument {
        #expect(try await terminate().status == .exited(0), sourceLocation: sourceLocation)
        let last = try JSONDocument(#require(await errors.allLines().last))
        #expect(last.root["message"]?.string == "stopped", sourceLocation: sourceLocation)
        return last
    }
}

extension IncomingMessage {
    /// The body of a result.
    var json: JSONDocument { get throws { try JSONDocument(body) } }
}

extension IncomingMessage {
    /// A header that is text; "-" where it is missing.
    func header(_ name: String) -> String { properties.header(name)?.stringValue ?? "-" }
}
