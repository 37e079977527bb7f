import APNSProtocol
import EventLoop
import Glibc
import RegistrationStores
import Registrations
import SQLite
import TestKit
import Testing

@Suite struct SQLiteStoreTests {
    private let fixture: SQLiteFixture

    init() throws {
        fixture = try SQLiteFixture()
    }

    private static let rules = RegistrationRules(now: RegistrationModel.start + 1000)
    private static let query = DeviceQuery(
        app: RegistrationModel.app, environment: .production, kind: .device, scope: nil, user: "ann")

    @Test(arguments: StoreCheck.all)
    func `The store passes each check`(_ check: StoreCheck) async throws {
        try await check.run(fixture)
    }

    @Test func `A second writer of a file is refused until the first one has closed it`() async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let first = try fixture.open(.sample(), on: loop)
            try await first.start()
            let second = try fixture.open(.sample(), on: loop)
            let log = ReadinessLog()
            second.writer.start { log.changed($0) }
            try await loop.wait { log.fault?.errorClass == "in-use" }
            #expect(log.fault?.code == .unreachable)
            #expect(log.fault?.sentence.contains("stop that process, or configure another file") == true)
            let refused = await #expect(throws: StoreFault.self) { try await second.apply([], rules: Self.rules) }
            #expect(refused?.errorClass == "in-use")
            await first.close()
            try await loop.wait { log.isReady }
            let outcomes = try await second.apply([.register("ann", "0a", at: 1)], rules: Self.rules)
            #expect(outcomes.map(\.reply) == [.stored])
            await second.close()
        }
    }

    @Test(arguments: [true, false])
    func `A file that is moved or replaced is refused until it is back`(isReplaced: Bool) async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            try await client.start()
            _ = try await client.apply([.register("ann", "0a", at: 1)], rules: Self.rules)
            try #require(rename(fixture.path, fixture.path + ".away") == 0)
            if isReplaced { close(open(fixture.path, O_WRONLY | O_CREAT, 0o600)) }
            let change = await #expect(throws: StoreFault.self) {
                try await client.apply([.register("ann", "0b", at: 2)], rules: Self.rules)
            }
            let lookup = await #expect(throws: StoreFault.self) { try await client.lookUp([Self.query]) }
            for fault in [change, lookup] {
                #expect(fault?.code == .refused && fault?.errorClass == "moved")
                #expect(fault?.sentence.contains("move the file back") == true)
            }
            try #require(rename(fixture.path + ".away", fixture.path) == 0)
            _ = try await client.apply([.register("ann", "0c", at: 3)], rules: Self.rules)
            #expect(try await client.lookUp([Self.query])[0].contains { $0.token == "0c" })
            await client.close()
        }
    }

    /// A new configuration starts a second writer and second readers of one store.
    @Test(arguments: [true, false])
    func `A client that starts while the file is away continues once it is back`(isReplaced: Bool) async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let away = fixture.path + ".away"
            let replacement = StoreClient(
                SQLiteStore(path: fixture.path + ".other", keys: try .sample()), on: loop)
            try await replacement.start()
            _ = try await replacement.apply([.register("ann", "0b", at: 1)], rules: Self.rules)
            await replacement.close()
            let store = SQLiteStore(path: fixture.path, keys: try .sample())
            let first = StoreClient(store, on: loop)
            try await first.start()
            _ = try await first.apply([.register("ann", "0a", at: 1)], rules: Self.rules)
            try #require(rename(fixture.path, away) == 0)
            if isReplaced { try #require(rename(fixture.path + ".other", fixture.path) == 0) }
            let second = StoreClient(store, on: loop)
            let (reader, writer) = (ReadinessLog(), ReadinessLog())
            second.reader.start { reader.changed($0) }
            second.writer.start { writer.changed($0) }
            try await loop.wait { reader.hasReported && writer.hasReported }
            // The pause is longer than the delay before a link opens the file again.
            await loop.sleep(for: .seconds(1))
            let lookup = await #expect(throws: StoreFault.self) { try await second.lookUp([Self.query]) }
            let change = await #expect(throws: StoreFault.self) {
                try await second.apply([.register("ann", "0c", at: 2)], rules: Self.rules)
            }
            #expect([lookup, change].map { $0?.errorClass } == ["moved", "moved"])
            await first.close()
            try #require(rename(away, fixture.path) == 0)
            try await loop.wait { reader.isReady && writer.isReady }
            _ = try await second.apply([.register("ann", "0c", at: 2)], rules: Self.rules)
            #expect(try await second.lookUp([Self.query])[0].map(\.token).sorted() == ["0a", "0c"])
            await second.close()
            // The file and its lock are free.
            let third = try fixture.open(.sample(), on: loop)
            try await third.start()
            await third.close()
        }
    }

    @Test func `A writer that starts while another connection writes continues afterward`() async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let earlier = try fixture.open(.sample(), on: loop)
            try await earlier.start()
            await earlier.close()
            // Without its lock file, this connection resembles an operator's tool, which does not hold the lock of the
            // writer.
            let tool = try SQLiteFile.open(fixture.path, .readWrite, schema: SQLiteFixture.schema)
            try #require(unlink(SQLiteFile.lockPath(of: fixture.path)) == 0)
            try tool.execute("BEGIN IMMEDIATE")
            let client = try fixture.open(.sample(), on: loop)
            let log = ReadinessLog()
            client.writer.start { log.changed($0) }
            try await loop.wait { log.hasReported }
            await loop.sleep(for: .seconds(1))
            let fault = await #expect(throws: StoreFault.self) { try await client.apply([], rules: Self.rules) }
            #expect(fault?.errorClass == "busy")
            try tool.execute("COMMIT")
            tool.close()
            try await loop.wait { log.isReady }
            let outcomes = try await client.apply([.register("ann", "0a", at: 1)], rules: Self.rules)
            #expect(outcomes.map(\.reply) == [.stored])
            await client.close()
        }
    }

    @Test func `Only an app that gets a row gets a number`() async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            try await client.start()
            _ = try await client.apply(
                [.erase("ann", app: "com.example.unknown", at: 1), .register("ann", "0a", at: 2)], rules: Self.rules)
            await client.close()
        }
        var apps: [String] = []
        try fixture.withFile { file throws(SQLiteError) in
            try file.prepare("SELECT bundle_id FROM app").forEachRow { row throws(SQLiteError) in
                apps.append(try row.text(0))
            }
        }
        #expect(apps == [RegistrationModel.app])
    }

    @Test func `Another process learns which process uses the file`() async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            try await client.start()
            let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
                [path = fixture.path as String] in
                try await onEpollLoop { loop in
                    let client = StoreClient(SQLiteStore(path: path, keys: try .sample()), on: loop)
                    let log = ReadinessLog()
                    client.writer.start { log.changed($0) }
                    try await loop.wait { log.fault != nil || log.isReady }
                    let text = log.fault?.sentence ?? "ready"
                    write(STDERR_FILENO, text, text.utf8.count)
                    exit(log.fault?.errorClass == "in-use" ? 3 : 4)
                }
            }
            let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(errors.contains("process \(getpid()) uses the file"))
            await client.close()
        }
    }

    @Test func `A reader becomes ready once a writer has created the file`() async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            let log = ReadinessLog()
            client.reader.start { log.changed($0) }
            // This lookup waits for the attempt to open the file.
            let fault = await #expect(throws: StoreFault.self) { try await client.lookUp([Self.query]) }
            #expect(fault?.code == .unreachable && fault?.errorClass == "missing")
            try await loop.wait { log.fault == fault }
            client.writer.start { _ in }
            try await loop.wait { log.isReady }
            let devices = try await client.lookUp([Self.query])
            #expect(devices == [[]])
            await client.close()
        }
    }

    @Test func `Lanes share the reading thread, and each leaves it alone`() async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let store = SQLiteStore(path: fixture.path, keys: try .sample())
            let client = StoreClient(store, on: loop)
            try await client.start()
            _ = try await client.apply([.register("ann", "0a", at: 1)], rules: Self.rules)
            let devices = try await client.lookUp([Self.query])
            for _ in 0..<3 {
                let found = try await onEpollLoop { lane in
                    let other = StoreClient(store, on: lane)
                    let log = ReadinessLog()
                    other.reader.start { log.changed($0) }
                    try await lane.wait { log.isReady }
                    let found = try await other.lookUp([Self.query])
                    await other.reader.close()
                    return found
                }
                #expect(found == devices)
            }
            let found = try await client.lookUp([Self.query])
            #expect(found == devices && devices[0].map(\.token) == ["0a"])
            await client.close()
        }
    }

    @Test func `A command reads the file beside a worker, and refuses changes`() async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let worker = try fixture.open(.sample(), on: loop)
            try await worker.start()
            _ = try await worker.apply([.register("ann", "0a", at: 1)], rules: Self.rules)
            let command = StoreClient(
                SQLiteStore(path: fixture.path, keys: try .sample(), access: .readOnly), on: loop)
            try await command.start()
            _ = try await worker.apply([.register("ann", "0b", at: 2)], rules: Self.rules)
            let rows = try await command.rows(.user("ann", app: nil))
            #expect(rows.count == 2)
            let devices = try await command.lookUp([Self.query])
            #expect(devices.map(\.count) == [2])
            func expectRefusal(_ body: () async throws(StoreFault) -> Void) async {
                let fault = await #expect(throws: StoreFault.self) { try await body() }
                #expect(fault?.code == .refused && fault?.sentence.contains("in its worker") == true)
            }
            await expectRefusal { () throws(StoreFault) in _ = try await command.apply([], rules: Self.rules) }
            await expectRefusal { () throws(StoreFault) in try await command.delete([]) }
            await expectRefusal { () throws(StoreFault) in _ = try await command.maintain(rules: Self.rules) }
            await expectRefusal { () throws(StoreFault) in _ = try await command.edit(.rekey) }
            await command.close()
            await worker.close()
        }
    }

    @Test func `A file of a newer version is refused`() async throws {
        let newer = SQLiteSchema(
            application: SQLiteFixture.schema.application, steps: ["CREATE TABLE first (a)", "CREATE TABLE second (a)"])
        try SQLiteFile.open(fixture.path, .readWrite, schema: newer).close()
        try await expectFault(.schema, "newer-version", "install the newer program again")
    }

    @Test func `A file of another program is refused`() async throws {
        let other = SQLiteSchema(application: 7, steps: ["CREATE TABLE first (a)"])
        try SQLiteFile.open(fixture.path, .readWrite, schema: other).close()
        try await expectFault(.schema, "foreign", "configure another file")
    }

    @Test func `A file that is not a database is refused`() async throws {
        try fixture.directory.write("registrations.db", String(repeating: "not a database\n", count: 500))
        try await expectFault(.schema, "corrupt", "restore the file from a backup")
    }

    /// Expects that reader and writer report a fault, and that their work fails with it.
    private func expectFault(_ code: StoreFault.Code, _ errorClass: String, _ remedy: String) async throws {
        let fixture = fixture
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            let (reader, writer) = (ReadinessLog(), ReadinessLog())
            client.reader.start { reader.changed($0) }
            client.writer.start { writer.changed($0) }
            // While one of them opens the file, the file may be busy for the other.
            try await loop.wait {
                reader.fault?.errorClass == errorClass && writer.fault?.errorClass == errorClass
            }
            for fault in [reader.fault, writer.fault] {
                #expect(fault?.code == code && fault?.errorClass == errorClass)
                #expect(fault?.sentence.contains(remedy) == true)
            }
            let lookup = await #expect(throws: StoreFault.self) { try await client.lookUp([Self.query]) }
            #expect(lookup?.errorClass == errorClass)
            let page = await #expect(throws: StoreFault.self) { try await client.rows() }
            #expect(page?.errorClass == errorClass)
            await client.close()
        }
    }

    @Test func `No file contains a user, a token, an installation or a scope`() async throws {
        let fixture = fixture
        let scoped = TokenAddress(
            app: RegistrationModel.app, environment: .production, kind: .controls, scope: "scope-of-zoe",
            token: "5ec2e75ec2e7")
        let secrets = [
            "user-zoe", "user-yan", "device-of-zoe", "scope-of-zoe", "5ec2e75ec2e7",
            "\u{5e}\u{c2}\u{e7}\u{5e}\u{c2}\u{e7}",
        ]
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            try await client.start()
            _ = try await client.apply(
                [
                    .register("user-zoe", scoped, at: 1, device: "device-of-zoe"),
                    .register("user-yan", scoped, at: 2, device: "device-of-zoe"), .erase("user-yan", at: 3),
                    .unregister("user-zoe", device: "device-of-zoe", at: 3), .register("user-zoe", scoped, at: 5),
                ], rules: Self.rules)
            // While the file is open, its WAL and shared-memory files exist.
            try Self.expectNone(of: secrets, in: fixture.directory, fileCountMin: 4)
            await client.close()
            try Self.expectNone(of: secrets, in: fixture.directory, fileCountMin: 2)
        }
    }

    private static func expectNone(
        of secrets: [String], in directory: TemporaryDirectory, fileCountMin: Int
    ) throws {
        let names = try Files.names(in: directory.path)
        #expect(names.count >= fileCountMin)
        var hasApp = false
        for name in names {
            let bytes = try Files.bytes(of: directory.file(name))
            hasApp = hasApp || bytes.contains(Array(RegistrationModel.app.utf8))
            for secret in secrets {
                // Each Unicode scalar represents one byte.
                let pattern = secret.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
                #expect(!bytes.contains(pattern), "\(name)")
            }
        }
        // The search finds the name of the app, which is not encrypted.
        #expect(hasApp)
    }
}

/// The last report of a reader or writer.
final class ReadinessLog {
    private(set) var isReady = false
    private(set) var fault: StoreFault?
    var hasReported: Bool { isReady || fault != nil }

    func changed(_ fault: StoreFault?) { (isReady, self.fault) = (fault == nil, fault) }
}
