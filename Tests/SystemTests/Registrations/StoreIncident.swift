import Glibc
import TestKit
import Testing

/// An incident of a PostgreSQL store that prevents lookups, with the reports of a worker and of `martlet doctor`.
struct StoreIncident: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The code of the breaker.
    let code: String
    let remedy: String
    let begin: @Sendable (PrivatePostgres) async throws -> Void
    let end: @Sendable (PrivatePostgres) async throws -> Void

    static let all = [wrongPassword, missingTable, newerSchema, lockedTable]

    private static let wrongPassword = StoreIncident(
        testDescription: "wrong password", code: "store-refused",
        remedy: "correct the user, password_file, or pg_hba.conf of the server"
    ) { server in
        try await server.sql("ALTER ROLE \(PrivatePostgres.user) PASSWORD 'changed'")
        try await endSessions(server)
    } end: { server in
        try await server.sql("ALTER ROLE \(PrivatePostgres.user) PASSWORD '\(PrivatePostgres.password)'")
    }

    private static let missingTable = StoreIncident(
        testDescription: "missing table", code: "store-schema", remedy: "run: martlet registrations migrate --config /"
    ) { server in
        try await server.sql("ALTER TABLE martlet.registration RENAME TO renamed")
    } end: { server in
        try await server.sql("ALTER TABLE martlet.renamed RENAME TO registration")
    }

    private static let newerSchema = StoreIncident(
        testDescription: "newer schema", code: "store-schema", remedy: "newer version of Martlet"
    ) { server in
        try await server.sql("CREATE TABLE saved AS SELECT * FROM martlet.version")
        try await server.sql("UPDATE martlet.version SET version = 99, oldest_reader = 99")
        try await endSessions(server)
    } end: { server in
        try await server.sql(
            "UPDATE martlet.version v SET version = s.version, oldest_reader = s.oldest_reader FROM saved s")
    }

    private static let lockedTable = StoreIncident(
        testDescription: "locked table", code: "store-unreachable",
        remedy: "end the session that holds the lock; see pg_locks"
    ) { server in
        Task {
            // Fails once the session is ended.
            _ = try? await server.sql("BEGIN; LOCK TABLE martlet.registration; SELECT pg_sleep(600)")
        }
        try await server.waitUntilSleeping()
    } end: { server in
        try await server.endSleepingSessions()
    }

    /// Returns an incident of a server that stops because the disk of its WAL is full.
    static func fullDisk(of wal: SmallDisk) -> StoreIncident {
        StoreIncident(
            testDescription: "disk of the WAL full", code: "store-unreachable",
            remedy: "check the server and the network"
        ) { server in
            try wal.fill()
            await #expect(throws: ProcessError.self) {
                try await server.sql("SELECT pg_logical_emit_message(true, 'test', repeat('x', 4000000))")
            }
            try await server.stop()
        } end: { server in
            try wal.free()
            try await server.start()
        }
    }

    /// Ends the sessions of the workers, which then connect again.
    private static func endSessions(_ server: PrivatePostgres) async throws {
        try await server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(PrivatePostgres.user)'")
    }
}
