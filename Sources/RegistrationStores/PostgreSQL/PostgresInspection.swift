public import EventLoop
public import PostgreSQL
public import Registrations

/// The server's version and the rights of a worker's role, for operators.
public struct PostgresInspection: Sendable, Hashable {
    /// The oldest version of the server that a store can use.
    public static let serverVersionMin = 130_000

    /// The version in the server's format, such as 150018.
    public var serverVersion: Int
    /// The rights that a worker needs and the role lacks, such as `INSERT on martlet.event`, separated by commas; empty
    /// if none is missing.
    public var missingRights: String
    /// Whether the role can create objects in the schema. No worker needs this right.
    public var mayChangeSchema: Bool

    public init(serverVersion: Int, missingRights: String, mayChangeSchema: Bool) {
        (self.serverVersion, self.missingRights) = (serverVersion, missingRights)
        self.mayChangeSchema = mayChangeSchema
    }

    /// The version as text, such as `15.18`.
    public var serverVersionText: String { "\(serverVersion / 10_000).\(serverVersion % 10_000)" }

    private static let statements = [
        "SELECT current_setting('server_version_num')::integer",
        """
        SELECT coalesce(string_agg(permission || ' on martlet.' || name, ', ' ORDER BY name, permission), '')
        FROM (
          SELECT name, permission FROM unnest(ARRAY['registration', 'ended', 'event', 'app']) AS name,
            unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS permission
          UNION ALL VALUES ('version', 'SELECT')
        ) AS needed
        WHERE NOT has_table_privilege('martlet.' || name, permission)
        """,
        "SELECT has_schema_privilege('martlet', 'CREATE')",
    ]

    /// Connects as the user of the URL, and reads the server's version and the user's rights. Call it on the loop's
    /// thread.
    ///
    /// - Throws: ``StoreFault``, also if the schema is missing or the user has no access to it.
    public init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource
    ) async throws(StoreFault) {
        let session = try PostgresMigrationSession(loop, url, password, Self.statements)
        let result: Result<Self, StoreFault>
        do throws(StoreFault) {
            try await session.connect()
            let version = try await session.run(0) { rows throws(PostgresError) in
                try rows.value(Int32.self, row: 0, column: 0)
            }
            let missing = try await session.run(1) { rows throws(PostgresError) in
                try rows.value(String.self, row: 0, column: 0)
            }
            let mayChange = try await session.run(2) { rows throws(PostgresError) in
                try rows.value(Bool.self, row: 0, column: 0)
            }
            result = .success(
                Self(serverVersion: Int(version), missingRights: missing, mayChangeSchema: mayChange))
        } catch {
            result = .failure(error)
        }
        await session.close()
        self = try result.get()
    }
}
