import Crypto
import EventLoop
import PostgreSQL
import RegistrationStores
import Registrations
import TestKit
import Testing

/// A trait that starts a private server for a suite, and ends the server after the suite.
struct PostgresServerTrait: SuiteTrait, TestScoping {
    @TaskLocal static var server: PrivatePostgres?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await PrivatePostgres.with { server in
            try await Self.$server.withValue(server) { try await function() }
        }
    }
}

extension Trait where Self == PostgresServerTrait {
    static var postgres: Self { Self() }
}

/// A store in its own database of a PostgreSQL server.
struct PostgresFixture: StoreFixture {
    /// The role of workers. It has no right to change the schema.
    static let workerRole = "martlet worker"

    let server: PrivatePostgres
    let database: String

    /// Creates a database on the suite's server.
    ///
    /// - Parameter isMigrated: Whether the schema is created, with the rights of the role of workers.
    init(isMigrated: Bool = true) async throws {
        try await self.init(#require(PostgresServerTrait.server), isMigrated: isMigrated)
    }

    init(_ server: PrivatePostgres, isMigrated: Bool = true) async throws {
        self.server = server
        database = "store_" + String(UInt32.random(in: .min ... .max), radix: 16)
        try await server.sql("CREATE DATABASE \(database) OWNER \(PrivatePostgres.user)")
        try await server.sql(
            """
            DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(Self.workerRole)')
            THEN CREATE ROLE "\(Self.workerRole)" LOGIN PASSWORD '\(PrivatePostgres.password)'; END IF; END $$
            """)
        guard isMigrated else { return }
        let fixture = self
        try await onEpollLoop { loop in
            _ = try await fixture.migrations(on: loop).migrate(workerRole: Self.workerRole)
        }
    }

    static let password: PostgresPasswordSource = { PostgresPassword(PrivatePostgres.password) }

    /// Returns the URL with which a user connects to the database.
    func url(user: String = "martlet%20worker", port: UInt16? = nil) throws -> PostgresURL {
        try PostgresURL("postgresql://\(user)@127.0.0.1:\(port ?? server.port)/\(database)")
    }

    func migrations(on loop: EpollLoop) throws -> PostgresMigrations {
        PostgresMigrations(loop: loop, url: try url(user: PrivatePostgres.user), password: Self.password)
    }

    func open(_ keys: RegistrationKeys, on loop: EpollLoop) throws -> StoreClient {
        try open(keys, on: loop, url: url())
    }

    func open(
        _ keys: RegistrationKeys, on loop: EpollLoop, url: PostgresURL,
        password: @escaping PostgresPasswordSource = Self.password,
        limits: PostgresConfiguration.Limits = Self.generousLimits
    ) throws -> StoreClient {
        StoreClient(
            reader: try PostgresReader(loop: loop, url: url, password: password, keys: keys, limits: limits),
            writer: try PostgresWriter(loop: loop, url: url, password: password, keys: keys, limits: limits), on: loop)
    }

    /// Limits for statements that a sanitizer or other work slows.
    static var generousLimits: PostgresConfiguration.Limits {
        var limits = PostgresConfiguration.Limits()
        limits.statementMillisecondsMax = 600_000
        limits.lockMillisecondsMax = 600_000
        limits.idleTransactionMillisecondsMax = 600_000
        limits.answerMillisecondsMax = 600_000
        return limits
    }

    /// Runs SQL as the administrator, and returns the lines of its output.
    @discardableResult
    func sql(_ text: String) async throws -> [String] { try await server.sql(text, database: database) }

    func exchangeCiphertexts(_ first: Registration.Key, _ second: Registration.Key) async throws {
        try await sql(
            """
            UPDATE martlet.registration r SET key_id = o.key_id, ciphertext = o.ciphertext FROM martlet.registration o
            WHERE (r.token_key = '\(first.token)' AND o.token_key = '\(second.token)')
            OR (r.token_key = '\(second.token)' AND o.token_key = '\(first.token)')
            """)
    }

    func makeUnknown(_ token: UUIDValue) async throws {
        try await sql("UPDATE martlet.registration SET kind = 99 WHERE token_key = '\(token)'")
    }
}
