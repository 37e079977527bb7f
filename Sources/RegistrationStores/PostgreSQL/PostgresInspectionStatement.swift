/// The statements of a ``PostgresInspection``. Each one returns one value. Raw values are indexes into the statements
/// of its session.
enum PostgresInspectionStatement: Int, CaseIterable {
    case serverVersion
    case missingRights
    case excessRights
    case invalidIndexes
    case connectionsLeft

    private static let tables = "unnest(ARRAY['registration', 'ended', 'event', 'app'])"
    private static let indexes = [
        "registration_pkey", "registration_user_key", "registration_device_key", "registration_expires_at",
        "registration_ended_at", "ended_pkey", "ended_at", "event_pkey", "event_at", "app_pkey", "app_bundle_id_key",
    ]

    var sql: String {
        switch self {
        case .serverVersion: "SELECT current_setting('server_version_num')::integer"
        case .missingRights:
            """
            SELECT coalesce(string_agg(permission || ' on martlet.' || name, ', ' ORDER BY name, permission), '')
            FROM (
              SELECT name, permission FROM \(Self.tables) AS name,
                unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS permission
              UNION ALL VALUES ('version', 'SELECT')
            ) AS needed
            WHERE NOT has_table_privilege('martlet.' || name, permission)
            """
        case .excessRights:
            """
            SELECT CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN 'all rights of a superuser'
            ELSE (
              SELECT coalesce(string_agg(permission, ', ' ORDER BY permission), '') FROM (
                SELECT 'CREATE on the schema' AS permission WHERE has_schema_privilege('martlet', 'CREATE')
                UNION ALL
                SELECT permission || ' on martlet.' || name FROM (
                  SELECT name, permission FROM \(Self.tables) AS name,
                    unnest(ARRAY['TRUNCATE', 'REFERENCES', 'TRIGGER']) AS permission
                  UNION ALL
                  SELECT 'version', unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'])
                ) AS unneeded
                WHERE has_table_privilege('martlet.' || name, permission)
              ) AS excess
            ) END
            """
        case .invalidIndexes:
            """
            SELECT coalesce(string_agg(name, ', ' ORDER BY name), '')
            FROM unnest(ARRAY[\(Self.indexes.map { "'\($0)'" }.joined(separator: ", "))]) AS name
            WHERE NOT EXISTS (
              SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
              JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = 'martlet' AND c.relname = name AND i.indisvalid AND i.indisready)
            """
        case .connectionsLeft:
            // The limits of a role and of a database are negative if there is none. Least ignores null. Servers before
            // version 16 have no reserved_connections.
            //
            // Without pg_read_all_stats, backend_type is null for sessions of other roles. Such a session counts if it
            // has a database and a user. An autovacuum worker has no user. A parallel worker of another role counts as
            // well, so the result may be too low during parallel queries.
            """
            SELECT least(
              current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
                - coalesce(current_setting('reserved_connections', true)::integer, 0) - count(*),
              (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0)
                - count(*) FILTER (WHERE usename = current_user),
              (SELECT datconnlimit FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0)
                - count(*) FILTER (WHERE datname = current_database()))::integer
            FROM pg_stat_activity
            WHERE coalesce(backend_type, 'client backend') = 'client backend'
              AND datname IS NOT NULL AND usename IS NOT NULL AND pid <> pg_backend_pid()
            """
        }
    }
}
