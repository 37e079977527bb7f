import Text

/// One step of the schema. Steps only add objects, so that workers of two versions can run during an upgrade.
struct PostgresMigration {
    enum Change {
        /// Statements that one transaction executes.
        case transaction(String)
        /// An index that the server creates while workers write. `definition` is the SQL after ON.
        case index(name: String, definition: String)
    }

    let version: Int
    /// The lowest schema version whose workers can use the schema after the step.
    let oldestReader: Int
    let change: Change

    /// All steps, in the order of their versions.
    static let all = [PostgresMigration(version: 1, oldestReader: 1, change: .transaction(first))]

    private static let first = """
        CREATE SCHEMA martlet;
        CREATE TABLE martlet.registration (
          token_key uuid NOT NULL,
          slot uuid NOT NULL,
          user_key uuid,
          device_key uuid,
          scope_key uuid,
          registered_at bigint NOT NULL,
          ended_at bigint,
          expires_at bigint,
          suspect_since bigint,
          suspicions smallint NOT NULL DEFAULT 0,
          app smallint NOT NULL,
          environment smallint NOT NULL,
          kind smallint NOT NULL,
          platform smallint,
          key_id smallint,
          ciphertext bytea,
          PRIMARY KEY (token_key, slot)
        ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
        CREATE INDEX registration_user_key ON martlet.registration (user_key) WHERE user_key IS NOT NULL;
        CREATE INDEX registration_device_key ON martlet.registration (device_key) WHERE device_key IS NOT NULL;
        CREATE INDEX registration_expires_at ON martlet.registration (expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX registration_ended_at ON martlet.registration (ended_at) WHERE ended_at IS NOT NULL;
        CREATE TABLE martlet.ended (
          key uuid PRIMARY KEY,
          at bigint NOT NULL,
          permanent boolean NOT NULL
        );
        CREATE INDEX ended_at ON martlet.ended (at) WHERE NOT permanent;
        CREATE TABLE martlet.event (
          event uuid PRIMARY KEY,
          at bigint NOT NULL,
          handed_out boolean NOT NULL,
          key_id smallint NOT NULL,
          ciphertext bytea NOT NULL
        );
        CREATE INDEX event_at ON martlet.event (at);
        CREATE TABLE martlet.app (
          id smallint PRIMARY KEY,
          bundle_id text NOT NULL UNIQUE
        );
        CREATE TABLE martlet.version (
          version integer NOT NULL,
          oldest_reader integer NOT NULL
        );
        INSERT INTO martlet.version VALUES (0, 0);
        """

    /// The statements of the step. The caller executes each one separately.
    var statements: [String] {
        let newVersion = "UPDATE martlet.version SET version = \(version), oldest_reader = \(oldestReader);"
        switch change {
        case .transaction(let sql): return [Self.transaction("\(sql)\n\(newVersion)")]
        case .index(let name, let definition):
            // An interrupted step leaves an invalid index.
            return [
                "DROP INDEX CONCURRENTLY IF EXISTS martlet.\(name);",
                "CREATE INDEX CONCURRENTLY \(name) ON \(definition);", Self.transaction(newVersion),
            ]
        }
    }

    /// Returns the statement that gives a role the rights of a worker. The statement can be repeated.
    static func grants(to role: String) -> String {
        let role = "\"\(role.replacingScalars("\"", with: "\"\""))\""
        return transaction(
            """
            GRANT USAGE ON SCHEMA martlet TO \(role);
            GRANT SELECT, INSERT, UPDATE, DELETE
              ON martlet.registration, martlet.ended, martlet.event, martlet.app TO \(role);
            GRANT SELECT ON martlet.version TO \(role);
            """)
    }

    /// Returns one statement that executes several. The server analyzes each one when it executes it, so a statement
    /// can use tables that an earlier one creates.
    private static func transaction(_ sql: String) -> String { "DO $martlet$ BEGIN\n\(sql)\nEND $martlet$;" }
}
