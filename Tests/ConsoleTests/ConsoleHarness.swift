import AMQP
import Actions
import BrokerManagement
import BrokerTopology
import ControlProtocol
import Crypto
import EventLoop
import History
import JSON
import SQLite
import TestKit

@testable import Configuration
@testable import Console

/// A console on a loop of its own, with a client. Without a broker, the console's broker is away.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class ConsoleHarness: @unchecked Sendable {
    let loop: EpollLoop
    let folder: TemporaryDirectory
    let server: ConsoleServer
    let connector: BrokerConnector
    let topology: Topology

    private init(
        _ loop: EpollLoop, _ folder: TemporaryDirectory, _ server: ConsoleServer, _ connector: BrokerConnector,
        _ topology: Topology
    ) {
        (self.loop, self.folder, self.server, self.connector, self.topology) = (
            loop, folder, server, connector, topology
        )
    }

    /// Runs a test with a console.
    ///
    /// - Parameters:
    ///   - section: the members of the section `console`.
    ///   - prefix: the prefix of the names at the broker.
    ///   - queues: the names of the request queues; nil for the default.
    ///   - journal: batches that the history contains at the start; nil for a console without a history.
    static func run(
        _ section: String = "", broker url: String = "amqp://127.0.0.1:1", prefix: String = "push",
        queues: [String]? = nil, limits: SessionTable.Limits = SessionTable.Limits(), journal: [JournalBatch]? = nil,
        _ body: @escaping @Sendable (ConsoleHarness) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory("console")
        let names = queues.map { ", request_queues: [\($0.map { "{name: \($0)}" }.joined(separator: ", "))]" } ?? ""
        let path = try folder.write(
            "martlet.yaml",
            """
            amqp: {url: "\(url)", prefix: \(prefix)\(names)}
            apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
            apps: {com.example.shop: {}}
            fleet: {}
            console: {listen: "127.0.0.1:0", history: {folder: history}, \(section.replacing("FOLDER", with: folder.path))}
            \(journal == nil ? "" : "journal: {}")
            """)
        try await onEpollLoop { loop in
            let configuration = try ConfigurationFile(path).console()
            if let journal, let settings = configuration.history {
                try await index(journal, in: try HistoryFiles(settings), on: loop)
            }
            let server = try ConsoleServer(
                configuration, configPath: "martlet.yaml", socketPath: folder.file("control"), on: loop, limits: limits)
            let harness = ConsoleHarness(
                loop, folder, server, try BrokerConnector(configuration.broker), configuration.topology)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(harness))
            } catch {
                result = .failure(error)
            }
            await server.stop()
            try result.get()
        }
    }

    /// Writes batches to a history.
    private static func index(_ batches: [JournalBatch], in files: HistoryFiles, on loop: EpollLoop) async throws {
        guard !batches.isEmpty else { return }
        let indexer = HistoryIndexer(files.folder, files.keys, on: loop)
        let events = Events()
        try indexer.start { events.opened = $0 }
        try await loop.wait { events.opened != nil }
        _ = try events.opened?.get()
        let messages = batches.enumerated().map { HistoryMessage(offset: Int64($0), body: $1.json) }
        indexer.write(messages, at: loop.now.unixMilliseconds) { events.written = $0 }
        try await loop.wait { events.written != nil }
        _ = try events.written?.get()
        indexer.close { events.isClosed = true }
        try await loop.wait { events.isClosed }
    }

    /// The results of an indexer.
    ///
    /// `@unchecked Sendable`: only the loop uses the object.
    private final class Events: @unchecked Sendable {
        var opened: Result<Int64?, SQLiteError>?
        var written: Result<HistoryProgress, SQLiteError>?
        var isClosed = false
    }

    /// Declares the topology, and writes the first record of pauses.
    static func declare(_ url: String, prefix: String, hasJournal: Bool = false) async throws {
        try await BrokerClients.withAdmin(url) { admin in
            let topology = Topology(
                names: TopologyNames(prefix: prefix), hasFleetControl: true, hasJournal: hasJournal)
            try await admin.waitUntilReady(deadlineSeconds: 30)
            var declarer = TopologyDeclarer(topology, admin: admin) { _ in }
            let failures = try await declarer.declare()
            guard failures == 0 else { throw ProcessError("\(failures) steps of the declaration failed") }
        }
        try await onEpollLoop { loop in
            var broker = WorkerConfiguration.Broker(url: try AMQPURL(url))
            broker.names = TopologyNames(prefix: prefix)
            let session = FleetSession(try BrokerConnector(broker), on: loop, command: "tests")
            session.start()
            _ = try await PauseWriter(session).writeFirst()
            await session.close()
        }
    }

    var endpoint: Endpoint {
        get throws {
            let words = server.url.dropFirst("http://".count).dropLast()
            guard let endpoint = Endpoint(String(words)) else { throw ProcessError("no endpoint in \(server.url)") }
            return endpoint
        }
    }

    func client() async throws -> RawHTTPClient { try await RawHTTPClient.connect(to: try endpoint, on: loop) }

    /// Sends one request on a new connection.
    func request(
        _ method: String, _ target: String, session: String? = nil, headers: [(String, String)] = [],
        body: String? = nil
    ) async throws -> RawHTTPResponse {
        let client = try await client()
        defer { client.close() }
        var text = "\(method) \(target) HTTP/1.1\r\n"
        if !headers.contains(where: { $0.0.lowercased() == "host" }) { text += "Host: localhost\r\n" }
        if let session { text += "Authorization: Bearer \(session)\r\n" }
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        client.send(text + "\r\n" + (body ?? ""))
        return try await client.response(hasBody: method != "HEAD")
    }

    /// Returns a login code, as the control socket hands it out.
    func code(_ role: OperatorRole, name: String = "alice") throws -> String { try server.makeCode(name, role) }

    /// Logs in with a code.
    func logIn(_ role: OperatorRole, name: String = "alice") async throws -> String {
        let body = #"{"code":"\#(try code(role, name: name))"}"#
        let answer = try await request("POST", "/api/session", body: body)
        guard answer.status == 201, let session = try answer.json["session"]?.string else {
            throw ProcessError("login: \(answer.status) \(answer.body)")
        }
        return session
    }
}

extension JSONValue {
    /// The elements of an array; empty for other values.
    var list: [JSONValue] { Array(elements) }
}

extension RawHTTPResponse {
    var json: JSONValue { get throws { try JSONDocument(Array(body.utf8)).root } }

    var code: String? { (try? json)?["code"]?.string }
}
