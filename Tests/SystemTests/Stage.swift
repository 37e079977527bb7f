import AMQP
import JSON
import TestKit
import Testing

/// A broker with names of the test's own, a simulator, and a configuration that leads to both.
struct Stage {
    struct Options {
        /// More arguments of the simulator.
        var simulator: [String] = []
        var inFlightMax = 1000
        var drainDeadlineSeconds = 25
        var resendsUnknown = true
        /// Of the worker, when it is not the simulator's.
        var keyPEM: String?
        /// Where the worker finds the broker, when it is not the shared one.
        var url: String?
        /// PEM; what an `amqps` URL is trusted by.
        var brokerAuthority: String?
    }

    let prefix: String
    let desk: BrokerDesk
    let simulator: ChildProcess
    let directory: TemporaryDirectory
    /// Where the simulator listens.
    let port: UInt16
    private let configuration: String

    /// - Parameter broker: its plain URL, for the test itself; nil: the one that all share.
    init(_ prefix: String, broker: String? = nil, _ options: Options = Options()) async throws {
        self.prefix = prefix
        directory = try TemporaryDirectory("system")
        let url: String
        if let broker { url = broker } else { url = try await PrivateBroker.shared.url }
        desk = try BrokerDesk(url)
        simulator = try await ChildProcess(
            [
                Products.executable("apns-simulator"), "--listen-production", "127.0.0.1:0",
                "--write-demo", directory.path, "--accept-unknown-devices", "--record", directory.file("record"),
            ] + options.simulator)
        let ready = try JSONDocument(await simulator.output.line { $0.contains(#""event":"ready""#) }).root
        port = try #require(ready["production_port"]?.int.flatMap(UInt16.init(exactly:)))
        if let key = options.keyPEM { try directory.write("other.p8", key) }
        if let authority = options.brokerAuthority { try directory.write("broker-ca.pem", authority) }
        configuration = try directory.write(
            "martlet.yaml",
            """
            amqp:
              url: \(options.url ?? url)
              prefix: \(prefix)
            \(options.brokerAuthority == nil ? "" : "  tls: {ca_file: broker-ca.pem}")
            apns:
              keys:
                - key_id: DEMOKEY001
                  team_id: DEMOTEAM01
                  key_file: \(options.keyPEM == nil ? "AuthKey_DEMOKEY001.p8" : "other.p8")
              endpoints:
                production: {host: 127.0.0.1, port: \(port), ca_file: ca.pem}
            apps:
              com.example.app: {}
            limits: {in_flight_max: \(options.inFlightMax), drain_deadline_seconds: \(options.drainDeadlineSeconds)}
            retry: {resend_unknown: \(options.resendsUnknown), delays: [1h]}
            lanes: 1
            """)
    }

    /// The name of the queue of requests, results or dead letters.
    func queue(_ word: String) -> String { "\(prefix).\(word)" }

    /// Takes what is in a queue, or in all of those where messages wait.
    func takeAll(_ word: String) async throws -> [IncomingMessage] {
        let queues = word == "wait" ? (1...3).map { "\(prefix).wait.1h.\($0)" } : [queue(word)]
        var messages: [IncomingMessage] = []
        for queue in queues { messages += try await desk.takeAll(from: queue) }
        return messages
    }

    func applyTopology() async throws {
        let result = try await ChildProcess.run([
            Products.executable("martlet"), "topology", "apply", "--config", configuration,
        ])
        try #require(result.exit.status == .exited(0), "\(result.errors)")
    }

    /// A worker that has been started, and may not be ready yet.
    func startWorker() async throws -> ChildProcess {
        try await ChildProcess([Products.executable("martlet"), "worker", "--config", configuration])
    }

    /// A worker that is ready.
    func worker() async throws -> ChildProcess {
        let worker = try await startWorker()
        try await worker.said("ready")
        return worker
    }

    func publish(_ samples: [Sample]) async throws {
        try await desk.publish(samples.map { $0.message(to: prefix) })
    }

    /// Takes the requests that are still in their queue, of which there should be so many.
    func left(_ count: Int) async throws -> [IncomingMessage] {
        await desk.collect(queue("requests"))
        try await desk.collected(queue("requests"), atLeast: count)
        let more = try await desk.takeAll(from: queue("requests"))
        return await desk.collected(queue("requests")) + more
    }

    /// Ends simulator and connections; what the simulator recorded.
    @discardableResult
    func end() async throws -> [JSONDocument] {
        await desk.close()
        #expect(try await simulator.terminate().status == .exited(0))
        return try Files.lines(of: directory.file("record")).map { try JSONDocument($0) }
    }
}

extension ChildProcess {
    /// Waits until a worker has logged a message.
    @discardableResult
    func said(_ message: String) async throws -> JSONDocument {
        let text = #""message":"\#(message)""#
        return try JSONDocument(await errors.line { $0.contains(text) })
    }

    /// Tells a worker to stop and waits for its end, which must be in order; its last log line.
    func stop(_ sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSONDocument {
        #expect(try await terminate(within: .seconds(60)).status == .exited(0), sourceLocation: sourceLocation)
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
