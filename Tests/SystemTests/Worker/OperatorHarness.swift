import JSON
import TestKit
import Testing

/// A worker with the commands and HTTP endpoints that an operator uses.
final class OperatorHarness {
    let fixture: SystemFixture
    let broker: PrivateBroker
    let worker: ChildProcess
    /// All requests that `publish(_:)` has published.
    private(set) var samples: [Sample] = []
    private let address: String

    /// Runs `body` with a ready worker on a broker that may be disrupted.
    ///
    /// - Parameters:
    ///   - broker: Defaults to the broker of `BrokerFaultTests`.
    ///   - beforeWorker: Prepares the objects that the worker uses.
    static func with(
        _ prefix: String, on broker: PrivateBroker? = nil,
        _ options: SystemFixture.Options = SystemFixture.Options(delays: ["1s"]),
        beforeWorker: (SystemFixture) async throws -> Void = { _ in },
        _ body: (OperatorHarness) async throws -> Void
    ) async throws {
        var options = options
        options.admin = Self.admin
        let broker = if let broker { broker } else { try await DisruptableBroker.shared }
        let fixture = try await SystemFixture(prefix, broker: broker.url, options)
        try await fixture.applyTopology()
        await fixture.testClient.collect(fixture.queue("results"))
        try await beforeWorker(fixture)
        let worker = try await fixture.startWorker()
        let address = try await worker.errors.line { $0.contains(#""admin.address""#) }
        try await worker.waitForLog("ready")
        let port = try #require(JSONDocument(address).root["admin.address"]?.string)
        let harness = OperatorHarness(fixture, broker, worker, port)
        for path in ["/livez", "/readyz"] { #expect(try await harness.request(path) == (200, "ok\n")) }
        try await body(harness)
        // Kill both processes, because pushes in flight may not complete in time. Other tests cover the drain.
        worker.send(signal: 9)
        fixture.simulator.send(signal: 9)
        await fixture.testClient.close()
    }

    private init(_ fixture: SystemFixture, _ broker: PrivateBroker, _ worker: ChildProcess, _ address: String) {
        (self.fixture, self.broker, self.worker, self.address) = (fixture, broker, worker, address)
    }

    /// The `admin` section of the worker's configuration.
    static let admin = "{listen: \"127.0.0.1:0\", socket: worker.sock}"

    var socket: String { fixture.directory.file("worker.sock") }

    func publish(_ count: Int) async throws {
        let new = Sample.make(count, from: samples.count)
        samples += new
        try await fixture.publish(new)
    }

    /// Waits for a log line of the worker with an event code.
    ///
    /// - Parameter text: A text that the line must contain.
    @discardableResult
    func logs(_ event: String, with text: String = "") async throws -> JSONValue {
        try JSONDocument(
            await worker.errors.line {
                $0.contains(#""event":"\#(event)""#) && (text.isEmpty || $0.contains(text))
            }
        ).root
    }

    /// Sends a GET request to the worker and returns the status and the body of the response.
    func request(_ path: String) async throws -> (Int, String) {
        let (exit, output, errors) = try await ChildProcess.run([
            "curl", "--silent", "--show-error", "--max-time", "10", "--write-out", "%{http_code}",
            "http://\(address)\(path)",
        ])
        guard exit.status == .exited(0), let status = output.last.flatMap({ Int($0) }) else {
            throw ProcessError("cannot request \(path): \(errors)")
        }
        return (status, output.dropLast().map { $0 + "\n" }.joined())
    }

    /// Runs `martlet` and returns its exit status; nil if a signal ended it.
    func martlet(_ arguments: String...) async throws -> Int32? { try await martlet(arguments) }

    func martlet(_ arguments: [String]) async throws -> Int32? { try await run(arguments).code }

    /// Runs `martlet` and returns its exit status, which is nil if a signal ended it, and its output lines.
    func run(_ arguments: [String]) async throws -> (code: Int32?, output: [String]) {
        let result = try await ChildProcess.run([Products.executable("martlet")] + arguments)
        if case .exited(let code) = result.exit.status { return (code, result.output) }
        return (nil, result.output)
    }

    /// Checks that status, `/readyz`, an alert and, with a remedy, a log line report a problem. Also checks `/livez`.
    ///
    /// - Parameters:
    ///   - words: Texts in the output of `martlet status`.
    ///   - unready: A text in the response of `/readyz`; nil if the worker stays ready.
    ///   - named: Another text in the response of `/readyz`.
    ///   - alert: The name of the alert that must fire.
    ///   - remedy: A text that status, `/readyz`, the alert and the log line must contain; empty for none.
    ///   - line: The log line of the problem.
    func expect(
        status words: [String], unready: String?, named: String = "", alert: String,
        remedy: String = "", log line: JSONValue? = nil,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var (code, lines) = try await run(["status", "--socket", socket])
        // The worker may probe some routes several times before it is no longer ready.
        for _ in 0..<20 where unready != nil && code != 1 {
            await fixture.testClient.sleep(for: .milliseconds(200))
            (code, lines) = try await run(["status", "--socket", socket])
        }
        let text = lines.joined(separator: "\n")
        #expect(code == (unready == nil ? 0 : 1), "\(text)", sourceLocation: sourceLocation)
        for word in words + [remedy] where !word.isEmpty {
            #expect(text.contains(word), "\(word) in \(text)", sourceLocation: sourceLocation)
        }
        let ready = try await request("/readyz")
        #expect(ready.0 == (unready == nil ? 200 : 503), sourceLocation: sourceLocation)
        for words in [unready ?? "ok", named, remedy] where !words.isEmpty {
            #expect(ready.1.contains(words), "\(words) in \(ready.1)", sourceLocation: sourceLocation)
        }
        #expect(try await request("/livez").0 == 200, sourceLocation: sourceLocation)
        let alerts = Alerts(directory: fixture.directory)
        let firing = try await alerts.firing(metrics: request("/metrics").1)
        #expect(firing.contains(alert), "\(firing)", sourceLocation: sourceLocation)
        guard !remedy.isEmpty else { return }
        for text in [line?["error"]?.string ?? "", try Alerts.text(of: alert)] {
            #expect(text.contains(remedy), "\(remedy) in \(text)", sourceLocation: sourceLocation)
        }
    }
}
