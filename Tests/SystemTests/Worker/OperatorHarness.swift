import JSON
import TestKit
import Testing

/// One who looks after a worker, by the commands and addresses that operators have.
final class OperatorHarness {
    let fixture: SystemFixture
    let broker: PrivateBroker
    let worker: ChildProcess
    /// What was published.
    private(set) var samples: [Sample] = []
    private let address: String

    /// A worker that is ready, on a broker that may be troubled, and has pushed something.
    ///
    /// - Parameter broker: the one that `BrokerFaultTests` have by default.
    static func with(
        _ prefix: String, on broker: PrivateBroker? = nil,
        _ options: SystemFixture.Options = SystemFixture.Options(delays: ["1s"]),
        _ body: (OperatorHarness) async throws -> Void
    ) async throws {
        var options = options
        options.admin = Self.admin
        let broker = if let broker { broker } else { try await DisruptableBroker.shared }
        let fixture = try await SystemFixture(prefix, broker: broker.url, options)
        try await fixture.applyTopology()
        await fixture.testClient.collect(fixture.queue("results"))
        let worker = try await fixture.startWorker()
        let address = try await worker.errors.line { $0.contains(#""admin.address""#) }
        try await worker.said("ready")
        let port = try #require(JSONDocument(address).root["admin.address"]?.string)
        let harness = OperatorHarness(fixture, broker, worker, port)
        for path in ["/livez", "/readyz"] { #expect(try await harness.ask(path) == (200, "ok\n")) }
        try await body(harness)
        // What is on its way may not be told in time; that is for other tests.
        worker.send(signal: 9)
        fixture.simulator.send(signal: 9)
        await fixture.testClient.close()
    }

    private init(_ fixture: SystemFixture, _ broker: PrivateBroker, _ worker: ChildProcess, _ address: String) {
        (self.fixture, self.broker, self.worker, self.address) = (fixture, broker, worker, address)
    }

    /// The section of the worker's configuration.
    static let admin = "{listen: \"127.0.0.1:0\", socket: worker.sock}"

    var socket: String { fixture.directory.file("worker.sock") }

    func publish(_ count: Int) async throws {
        let new = Sample.make(count, from: samples.count)
        samples += new
        try await fixture.publish(new)
    }

    /// Waits for a line of the worker's log.
    ///
    /// - Parameter text: to be found in the line.
    @discardableResult
    func logs(_ event: String, with text: String = "") async throws -> JSONValue {
        try JSONDocument(
            await worker.errors.line {
                $0.contains(#""event":"\#(event)""#) && (text.isEmpty || $0.contains(text))
            }
        ).root
    }

    /// Status and body.
    func ask(_ path: String) async throws -> (Int, String) {
        let (exit, output, errors) = try await ChildProcess.run([
            "curl", "--silent", "--show-error", "--max-time", "10", "--write-out", "%{http_code}",
            "http://\(address)\(path)",
        ])
        guard exit.status == .exited(0), let status = output.last.flatMap({ Int($0) }) else {
            throw ProcessError("\(path): \(errors)")
        }
        return (status, output.dropLast().map { $0 + "\n" }.joined())
    }

    /// Its exit code.
    func martlet(_ arguments: String...) async throws -> Int32? { try await martlet(arguments) }

    func martlet(_ arguments: [String]) async throws -> Int32? { try await run(arguments).code }

    private func run(_ arguments: [String]) async throws -> (code: Int32?, output: [String]) {
        let result = try await ChildProcess.run([Products.executable("martlet")] + arguments)
        if case .exited(let code) = result.exit.status { return (code, result.output) }
        return (nil, result.output)
    }

    /// Checks that each of the places where one may look names what is wrong.
    ///
    /// - Parameters:
    ///   - unready: what `/readyz` says; nil where the worker stays ready.
    ///   - named: what it says besides.
    ///   - remedy: what mends it, as all of them say it, and the line of the log.
    func expect(
        status words: [String], unready: String?, named: String = "", alert: String,
        remedy: String = "", log line: JSONValue? = nil,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var (code, lines) = try await run(["status", "--socket", socket])
        // A route may be probed again and again before all are held.
        for _ in 0..<20 where unready != nil && code != 1 {
            await fixture.testClient.sleep(for: .milliseconds(200))
            (code, lines) = try await run(["status", "--socket", socket])
        }
        let text = lines.joined(separator: "\n")
        #expect(code == (unready == nil ? 0 : 1), "\(text)", sourceLocation: sourceLocation)
        for word in words + [remedy] where !word.isEmpty {
            #expect(text.contains(word), "\(word) in \(text)", sourceLocation: sourceLocation)
        }
        let ready = try await ask("/readyz")
        #expect(ready.0 == (unready == nil ? 200 : 503), sourceLocation: sourceLocation)
        for words in [unready ?? "ok", named, remedy] where !words.isEmpty {
            #expect(ready.1.contains(words), "\(words) in \(ready.1)", sourceLocation: sourceLocation)
        }
        #expect(try await ask("/livez").0 == 200, sourceLocation: sourceLocation)
        let alerts = Alerts(directory: fixture.directory)
        let firing = try await alerts.firing(metrics: ask("/metrics").1)
        #expect(firing.contains(alert), "\(firing)", sourceLocation: sourceLocation)
        guard !remedy.isEmpty else { return }
        for text in [line?["error"]?.string ?? "", try Alerts.text(of: alert)] {
            #expect(text.contains(remedy), "\(remedy) in \(text)", sourceLocation: sourceLocation)
        }
    }
}
