import EventLoop
import PostgreSQL
import Registrations
import TestKit
import Testing

@testable import RegistrationStores

@Suite(.serialized, .postgres) struct PostgresMigrationTests {
    private static let required = PostgresVersion(version: PostgresMigrations.version, oldestReader: 1)

    @Test func `A database without a schema is migrated once`() async throws {
        let fixture = try await PostgresFixture(isMigrated: false)
        try await onEpollLoop { loop in
            let migrations = try fixture.migrations(on: loop)
            let missing = try await migrations.check()
            #expect(missing == PostgresVersion(version: 0, oldestReader: 0))
            #expect(missing.fault(required: PostgresMigrations.version)?.code == .schema)
            #expect(try await migrations.migrate(workerRole: nil) == missing)
            #expect(try await migrations.check() == Self.required)
            #expect(try await migrations.migrate(workerRole: PostgresFixture.workerRole) == Self.required)
            #expect(try await migrations.check().fault(required: PostgresMigrations.version) == nil)
        }
    }

    @Test func `The printed SQL creates the same schema`() async throws {
        let printed = try await PostgresFixture(isMigrated: false)
        let migrated = try await PostgresFixture()
        // The printed SQL quotes the name of the role, which contains a space.
        let sql = PostgresMigrations.sql(workerRole: PostgresFixture.workerRole)
        try await printed.sql("SET ROLE \(PrivatePostgres.user);\n\(sql)")
        let columns = """
            SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
            WHERE table_schema = 'martlet' ORDER BY 1, 2
            """
        let indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'martlet' ORDER BY 1"
        let rights = """
            SELECT table_name, grantee, privilege_type FROM information_schema.table_privileges
            WHERE table_schema = 'martlet' ORDER BY 1, 2, 3
            """
        for query in [columns, indexes, rights, "SELECT * FROM martlet.version"] {
            let lines = try await printed.sql(query)
            #expect(!lines.isEmpty)
            #expect(try await migrated.sql(query) == lines)
        }
    }

    @Test func `The name of a role is quoted byte for byte`() {
        let lines = PostgresMigrations.sql(workerRole: "a\"\u{301}b").utf8.split(separator: UInt8(ascii: "\n"))
        let grant = "GRANT USAGE ON SCHEMA martlet TO \"a\"\"\u{301}b\";"
        #expect(lines.contains { $0.elementsEqual(grant.utf8) })
    }

    @Test func `A worker has no right to change the schema`() async throws {
        let fixture = try await PostgresFixture()
        for statement in [
            "CREATE TABLE martlet.other (n int)", "ALTER TABLE martlet.event ADD COLUMN n int",
            "DROP TABLE martlet.event", "TRUNCATE martlet.event", "UPDATE martlet.version SET version = 9",
        ] {
            await #expect(throws: ProcessError.self) {
                try await fixture.sql("SET ROLE \"\(PostgresFixture.workerRole)\"; \(statement)")
            }
        }
        try await onEpollLoop { loop in
            let worker = PostgresMigrations(loop: loop, url: try fixture.url(), password: PostgresFixture.password)
            #expect(try await worker.check() == Self.required)
        }
    }

    /// Migrations that add a column in version 2 and an index in version 3.
    private static let later =
        PostgresMigration.all + [
            PostgresMigration(
                version: 2, oldestReader: 1,
                change: .transaction("ALTER TABLE martlet.registration ADD COLUMN note text;")),
            PostgresMigration(
                version: 3, oldestReader: 3,
                change: .index(name: "registration_note", definition: "martlet.registration (note)")),
        ]

    private static func migrations(_ fixture: PostgresFixture, on loop: EpollLoop) throws -> PostgresMigrations {
        PostgresMigrations(
            loop: loop, url: try fixture.url(user: PrivatePostgres.user), password: PostgresFixture.password,
            migrations: later)
    }

    @Test func `Later steps follow, and a step that was interrupted is repeated`() async throws {
        let fixture = try await PostgresFixture()
        // An interrupted step to version 3 leaves its index without the version.
        try await fixture.sql(
            """
            ALTER TABLE martlet.registration ADD COLUMN note text; UPDATE martlet.version SET version = 2;
            CREATE INDEX registration_note ON martlet.registration (kind);
            ALTER INDEX martlet.registration_note OWNER TO \(PrivatePostgres.user)
            """)
        try await onEpollLoop { loop in
            let migrations = try Self.migrations(fixture, on: loop)
            #expect(try await migrations.migrate(workerRole: nil).version == 2)
            #expect(try await migrations.check() == PostgresVersion(version: 3, oldestReader: 3))
        }
        let index = try await fixture.sql("SELECT indexdef FROM pg_indexes WHERE indexname = 'registration_note'")
        #expect(index.first?.hasSuffix("(note)") == true)
    }

    @Test func `A newer schema is refused, and stays`() async throws {
        let fixture = try await PostgresFixture()
        try await onEpollLoop { loop in
            try await Self.migrations(fixture, on: loop).migrate(workerRole: nil)
            do {
                try await fixture.migrations(on: loop).migrate(workerRole: nil)
                Issue.record("the schema was migrated")
            } catch let fault as StoreFault {
                #expect(fault.code == .schema && fault.sentence.contains("newer version of Martlet"))
            }
            #expect(try await fixture.migrations(on: loop).check().version == 3)
        }
    }

    @Test func `Two migrations do not run at once`() async throws {
        let fixture = try await PostgresFixture(isMigrated: false)
        try await onEpollLoop { loop in
            async let first = result(of: try fixture.migrations(on: loop))
            async let second = result(of: try fixture.migrations(on: loop))
            let faults = try await [first, second].compactMap { $0 }
            #expect(faults.count <= 1 && faults.allSatisfy { $0.sentence.contains("another migration is running") })
            #expect(try await fixture.migrations(on: loop).check() == Self.required)
        }
    }

    private func result(of migrations: PostgresMigrations) async -> StoreFault? {
        do throws(StoreFault) {
            try await migrations.migrate(workerRole: nil)
            return nil
        } catch {
            return error
        }
    }

    @Test func `A login that the server refuses is a fault`() async throws {
        let fixture = try await PostgresFixture()
        try await onEpollLoop { loop in
            let migrations = PostgresMigrations(
                loop: loop, url: try fixture.url(), password: { PostgresPassword("wrong secret") })
            do {
                _ = try await migrations.check()
                Issue.record("the login succeeded")
            } catch let fault as StoreFault {
                #expect(fault.code == .refused && fault.errorClass == "28" && !fault.sentence.contains("secret"))
            }
        }
    }
}
