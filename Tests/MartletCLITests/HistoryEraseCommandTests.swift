import AMQP
import CommandKit
import Configuration
import Console
import ControlProtocol
import Crypto
import Glibc
import History
import JSON
import SQLite
import TestKit
import Testing

@testable import MartletCLI

/// The command that erases from a console's history, beside a running console at a real broker.
@Suite(.timeLimit(.minutes(5))) struct HistoryEraseCommandTests {
    private static let token = String(repeating: "00fc13ad", count: 8)
    private static let user = "user-4711"

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("erase") }

    // MARK: Command lines

    @Test func aCommandLineNamesOneSubject() throws {
        func subject(_ words: String...) throws -> HistorySubject {
            let command: HistoryEraseCommand = try Program.martlet.command(
                ["history", "erase", "--config", "c"] + words)
            return command.subject
        }
        #expect(try subject("--token", Self.token) == .token(Self.token))
        #expect(try subject("--user", "bob", "--yes") == .user("bob"))
        #expect(
            try subject("--id", "00004000-0000-4000-8000-000000000001")
                == .id(UUIDValue("00004000-0000-4000-8000-000000000001") ?? UUIDValue(high: 0, low: 0)))
        let mistakes = [[], ["--user", ""], ["--user", "a", "--id", "b"], ["--token", "00fc13ad…+56"]]
        for words in mistakes {
            #expect(throws: UsageError.self) {
                _ = try Program.martlet.command(
                    ["history", "erase", "--config", "c"] + words, as: HistoryEraseCommand.self)
            }
        }
    }

    // MARK: Erasure

    private func configure(_ url: String, prefix: String = "push") throws -> String {
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        return try folder.write(
            "martlet.yaml",
            """
            amqp: {url: "\(url)", prefix: \(prefix)}
            apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
            apps: {com.example.shop: {}}
            fleet: {}
            journal: {}
            console: {listen: "127.0.0.1:0", socket: "\(folder.file("control"))", history: {folder: history}}
            """)
    }

    private func martlet(
        _ arguments: String...
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.run([Products.executable("martlet")] + arguments)
    }

    /// Returns the body of a batch with a result for the user, and one for another user.
    private static func batch(_ sequence: Int, boot: UInt64 = 1, at: Int64) -> [UInt8] {
        let lines = [(Self.token, Self.user), ("ff" + Self.token.dropFirst(2), "bob")].enumerated().map {
            number, subject in
            JournalLine.result(
                Array(
                    """
                    {"id":"00004000-0000-4000-8000-0000000000\(sequence)\(number)","app":"com.example.shop",\
                    "device_token":"\(subject.0)","user":"\(subject.1)","outcome":"accepted","status":200,"attempts":1,\
                    "received_at":\(at - 50),"sent_at":\(at - 48),"finished_at":\(at),"queue":"push.requests","worker":"w1"}
                    """.utf8))
        }
        return JournalBatch(
            JournalHead(
                worker: "w1", bootID: UUIDValue(high: 7, low: boot), sequence: sequence, sentAt: at, droppedLines: 0,
                hasEnded: false), lines: lines
        ).json
    }

    private func publish(_ body: [UInt8], _ client: TestBrokerClient) async throws {
        try await client.publish(1) { _ in
            OutgoingMessage(
                exchange: "push.fleet", routingKey: "journal.w1", body: body, messageID: "j", type: "push.journal.v1")
        }
    }

    /// The number of the user's requests, as another process reads them.
    private func count(_ user: String, _ configuration: ConsoleConfiguration) throws -> Int {
        let files = try HistoryFiles(existing: try #require(configuration.history))
        guard access(files.folder.indexPath, F_OK) == 0 else { return 0 }
        let file = try SQLiteFile.open(files.folder.indexPath, .readOnly, schema: .historyIndex)
        defer { file.close() }
        let reader = try HistoryReader(file, files.folder, files.keys)
        return try file.transaction { () throws(SQLiteError) in try reader.page(.user(user)).rows.count }
    }

    private func wait(_ count: Int, of user: String, _ configuration: ConsoleConfiguration) async throws {
        // A read may fail while the console opens the files.
        try await poll(until: "requests of \(user) in the history", every: .milliseconds(50)) {
            (try? self.count(user, configuration)) == count
        }
    }

    private func contains(_ text: String) throws -> Bool {
        let needle = Array(text.utf8)
        let path = folder.file("history")
        return try Files.names(in: path).contains { name in
            let bytes = try Files.bytes(of: "\(path)/\(name)")
            return bytes.indices.contains { bytes[$0] == needle[0] && bytes[$0...].starts(with: needle) }
        }
    }

    @Test func aRunningConsoleClosesTheHistoryAndContinues() async throws {
        let broker = try await PrivateBroker()
        let path = try configure(broker.url)
        let configuration = try ConfigurationFile(path).console()
        let applied = try await martlet("topology", "apply", "--config", path)
        try #require(applied.exit.status == .exited(0), "\(applied.errors)")
        let client = try TestBrokerClient(broker.url)
        let console = try await ChildProcess([Products.executable("martlet"), "console", "--config", path])
        let now = Int64(time(nil)) * 1000
        try await publish(Self.batch(1, at: now - 2000), client)
        try await wait(1, of: Self.user, configuration)

        let erased = try await martlet("history", "erase", "--user", Self.user, "--yes", "--config", path)
        #expect(erased.exit.status == .exited(0), "\(erased.errors)")
        #expect(erased.output == ["erased 1 lines of the history in \(folder.file("history"))"])
        #expect(try count(Self.user, configuration) == 0 && count("bob", configuration) == 1)

        // The console continues. The batch of another process repeats the erased request.
        try await publish(Self.batch(2, boot: 2, at: now - 2000), client)
        try await wait(2, of: "bob", configuration)
        #expect(try count(Self.user, configuration) == 0)
        #expect(try !contains(Self.user) && !contains(Self.token))

        let audit = try await martlet("audit", "--json", "--config", path)
        let records = try audit.output.map { try JSONDocument(Array($0.utf8)).root }
            .filter { $0["verb"]?.string == "erase" }
        #expect(records.map { $0["phase"]?.string } == ["before", "after"])
        #expect(records.last?["count"]?.int == 1)
        #expect(records.first?["command"]?.string?.hasPrefix("martlet history erase --user … --config ") == true)
        #expect(!audit.output.joined().contains(Self.user))
        #expect(try await console.terminate().status == .exited(0))
        await client.close()
        try await broker.end()
    }

    @Test func aMissingHistoryIsReported() async throws {
        let path = try configure("amqp://guest:guest@127.0.0.1:1")
        let missing = try await martlet("history", "erase", "--user", "bob", "--yes", "--config", path)
        #expect(missing.exit.status == .exited(1), "\(missing.errors)")
        #expect(missing.errors.first?.contains("cannot erase") == true)
    }
}
