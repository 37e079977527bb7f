public import EventLoop
public import PostgreSQL
public import Registrations

/// The migrations that create and update the schema of a store, for commands.
public struct PostgresMigrations {
    /// The version of the schema that this version of Martlet requires.
    public static let version = PostgresMigration.all.map(\.version).max() ?? 0
    /// The time after which the server cancels a statement. Creating an index on a large table takes long.
    static let statementSecondsMax = 6 * 3600
    /// The statement that acquires a session-level advisory lock. A transaction-level lock is not possible, because
    /// CREATE INDEX CONCURRENTLY cannot run in a transaction. The statement does not wait for the lock, because a
    /// waiting session would block CREATE INDEX CONCURRENTLY.
    private static let lock =
        "SELECT pg_try_advisory_lock(\(PostgresLocks.namespace), \(PostgresLocks.migration))"
    private static let tableExists = "SELECT to_regclass('martlet.version') IS NOT NULL"
    private static let isMigrating = StoreFault(
        .unreachable, "cannot migrate the registration store: another migration is running; wait until it is complete")

    private let loop: EpollLoop
    private let url: PostgresURL
    private let password: PostgresPasswordSource
    private let migrations: [PostgresMigration]

    /// Creates the migrations.
    ///
    /// - Parameter url: The URL of the database, with the user that owns the schema.
    public init(loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource) {
        self.init(loop: loop, url: url, password: password, migrations: PostgresMigration.all)
    }

    init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource, migrations: [PostgresMigration]
    ) {
        (self.loop, self.url, self.password, self.migrations) = (loop, url, password, migrations)
    }

    /// Returns the SQL that creates the schema in a database without one, for `psql`.
    ///
    /// - Parameter workerRole: The role that receives the rights of a worker; nil for none.
    public static func sql(workerRole: String?) -> String {
        var parts: [String] = []
        for migration in PostgresMigration.all {
            parts += ["-- Version \(migration.version)"] + migration.statements
        }
        if let workerRole { parts += ["-- Rights of a worker", PostgresMigration.grants(to: workerRole)] }
        return parts.joined(separator: "\n") + "\n"
    }

    /// Returns the version of the database's schema. ``PostgresVersion/fault(required:)`` compares it with ``version``.
    ///
    /// - Throws: ``StoreFault`` if the database cannot be reached or read.
    public func check() async throws(StoreFault) -> PostgresVersion {
        let exists = try await withSession([Self.tableExists]) { session async throws(StoreFault) in
            try await session.run(0) { rows throws(PostgresError) in try rows.value(Bool.self, row: 0, column: 0) }
        }
        guard exists else { return .none }
        return try await withSession([PostgresVersion.sql]) { session async throws(StoreFault) in
            try await session.run(0) { rows throws(PostgresError) in try PostgresVersion(rows) }
        }
    }

    /// Applies the steps that the database lacks, and grants the rights of a worker.
    ///
    /// - Parameter workerRole: The role that receives the rights of a worker; nil for none.
    /// - Returns: The version of the schema before the call.
    /// - Throws: ``StoreFault``. Completed steps remain, and a repeat continues after them.
    @discardableResult
    public func migrate(workerRole: String?) async throws(StoreFault) -> PostgresVersion {
        let grants = workerRole.map { [PostgresMigration.grants(to: $0)] } ?? []
        let statements = [Self.lock] + migrations.flatMap(\.statements) + grants
        return try await withSession(statements) { session async throws(StoreFault) in
            let isLocked = try await session.run(0) { rows throws(PostgresError) in
                try rows.value(Bool.self, row: 0, column: 0)
            }
            guard isLocked else { throw Self.isMigrating }
            let before = try await check()
            let newest = migrations.map(\.version).max() ?? 0
            if before.version > newest, let fault = before.fault(required: newest) { throw fault }
            var next = 1
            for migration in migrations {
                for statement in next..<next + migration.statements.count where migration.version > before.version {
                    try await session.run(statement)
                }
                next += migration.statements.count
            }
            for statement in next..<statements.count { try await session.run(statement) }
            return before
        }
    }

    private func withSession<Value>(
        _ statements: [String], _ body: (PostgresCommandSession) async throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        let session = try PostgresCommandSession(
            loop, url, password, statements, applicationName: "martlet registrations migrate",
            statementSecondsMax: Self.statementSecondsMax)
        let result: Result<Value, StoreFault>
        do throws(StoreFault) {
            try await session.connect()
            result = .success(try await body(session))
        } catch {
            result = .failure(error)
        }
        await session.close()
        return try result.get()
    }
}
