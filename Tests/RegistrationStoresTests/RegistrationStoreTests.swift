import Crypto
import EventLoop
import PostgreSQL
import RegistrationStores
import Registrations
import TestKit
import Testing

/// The store of a process, and the inspection of a worker's rights.
@Suite(.serialized, .postgres) struct RegistrationStoreTests {
    private let keys: RegistrationKeys

    init() throws {
        keys = try RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "keys.json")
    }

    /// Returns the first reports of a writer and of a reader, in this order. A report is nil if the connection is
    /// ready.
    private func faults(of store: RegistrationStore) async throws -> [StoreFault?] {
        try await onEpollLoop { loop in
            let (writer, reader) = (try store.writer(on: loop), try store.reader(on: loop))
            let first = await Self.report { writer.start(onChange: $0) }
            let second = await Self.report { reader.start(onChange: $0) }
            await reader.close()
            await writer.close()
            return [first, second]
        }
    }

    private static func report(_ start: (@escaping (StoreFault?) -> Void) -> Void) async -> StoreFault? {
        await withUnsafeContinuation { continuation in
            var isFirst = true
            start { fault in
                if isFirst { continuation.resume(returning: fault) }
                isFirst = false
            }
        }
    }

    @Test func `The address determines the kind of store`() async throws {
        let folder = try TemporaryDirectory("store")
        let file = try StoreAddress("sqlite:\(folder.file("r.db"))")
        #expect(try file.loadLibrary().hasPrefix("libsqlite3 3."))
        #expect(try await faults(of: RegistrationStore(file, keys: keys)) == [nil, nil])

        let fixture = try await PostgresFixture()
        let server = StoreAddress.postgresql(try fixture.url())
        #expect(try server.loadLibrary().hasPrefix("libpq 1"))
        let store = try RegistrationStore(server, password: PostgresFixture.password, keys: keys)
        #expect(try await faults(of: store) == [nil, nil])
    }

    // While a new configuration replaces the previous one, the writers of two generations use one store.
    @Test func `Writers of one store use the file together`() async throws {
        let folder = try TemporaryDirectory("store")
        let store = try RegistrationStore(.sqlite(path: folder.file("r.db")), keys: keys)
        try await onEpollLoop { loop in
            let (first, second) = (try store.writer(on: loop), try store.writer(on: loop))
            #expect(await Self.report { first.start(onChange: $0) } == nil)
            #expect(await Self.report { second.start(onChange: $0) } == nil)
            await first.close()
            await second.close()
        }
    }

    @Test func `Rights are compared with those that a worker needs`() async throws {
        let fixture = try await PostgresFixture()
        func inspection(user: String = "martlet%20worker") async throws -> PostgresInspection {
            let url = try fixture.url(user: user)
            return try await onEpollLoop { loop in
                try await PostgresInspection(loop: loop, url: url, password: PostgresFixture.password)
            }
        }
        let worker = try await inspection()
        #expect(worker.missingRights.isEmpty && worker.excessRights.isEmpty && worker.invalidIndexes.isEmpty)
        #expect((1..<100).contains(worker.connectionsLeft))
        #expect(worker.serverVersion >= PostgresInspection.serverVersionMin)
        #expect(try await inspection(user: PrivatePostgres.user).excessRights.hasPrefix("CREATE on the schema, "))

        try await fixture.sql(
            """
            DROP INDEX martlet.event_at;
            UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'martlet.ended_at'::regclass;
            ALTER DATABASE \(fixture.database) CONNECTION LIMIT 3;
            GRANT UPDATE ON martlet.version TO "\(PostgresFixture.workerRole)";
            REVOKE DELETE ON martlet.event FROM "\(PostgresFixture.workerRole)";
            REVOKE SELECT ON martlet.version FROM "\(PostgresFixture.workerRole)"
            """)
        let changed = try await inspection()
        #expect(changed.missingRights == "DELETE on martlet.event, SELECT on martlet.version")
        #expect(changed.excessRights == "UPDATE on martlet.version")
        #expect(changed.invalidIndexes == "ended_at, event_at")
        #expect((1...3).contains(changed.connectionsLeft))
        // The role of workers cannot read the type of the administrator's session. The session counts nevertheless.
        let holder = Task { try await fixture.sql("SELECT pg_sleep(3600)") }
        try await fixture.server.waitUntilSleeping()
        #expect(try await inspection().connectionsLeft <= 2)
        try await fixture.server.endSleepingSessions()
        await #expect(throws: ProcessError.self) { try await holder.value }
        try await fixture.sql("REVOKE USAGE ON SCHEMA martlet FROM \"\(PostgresFixture.workerRole)\"")
        await #expect(throws: StoreFault.self) { try await inspection() }
    }
}
