import PostgreSQL

/// The statements of a reader. Raw values are indexes into the statements of its connection.
enum PostgresReaderStatement: Int, CaseIterable {
    case version
    case lookUp

    var prepared: PreparedStatement {
        switch self {
        case .version: PreparedStatement(PostgresVersion.sql)
        case .lookUp:
            // LATERAL with LIMIT makes the plan a nested loop, regardless of statistics. Columns are qualified. If the
            // table lacked a column, an unqualified name would mean the column of `q`.
            PreparedStatement(
                """
                SELECT q.n, r.token_key, r.slot, r.registered_at, r.key_id, r.ciphertext
                FROM unnest($1, $2, $3, $4, $5)
                WITH ORDINALITY AS q(user_key, environment, kind, scope_key, token_key, n)
                CROSS JOIN LATERAL (
                  SELECT d.token_key, d.slot, d.registered_at, d.key_id, d.ciphertext FROM martlet.registration d
                  WHERE d.user_key = q.user_key AND d.environment = q.environment AND d.kind = q.kind
                  AND d.scope_key IS NOT DISTINCT FROM q.scope_key
                  AND (q.token_key IS NULL OR d.token_key = q.token_key)
                  AND d.suspicions < $6 AND (d.expires_at IS NULL OR d.expires_at > $7)
                  ORDER BY d.token_key, d.slot LIMIT $8) r
                """, [.uuidArray, .int2Array, .int2Array, .uuidArray, .uuidArray, .int2, .int8, .int8])
        }
    }
}

/// The statements of a writer. Raw values are indexes into the statements of its connection.
enum PostgresWriterStatement: Int, CaseIterable {
    case version
    /// Numbers the apps of an array that have no number.
    case numberApps
    /// Returns the apps with numbers above a given number.
    case newApps
    case lock
    case lockStore
    case lockRows
    case readMarks
    case updateRows
    case insertRows
    case upsertMarks
    case insertEvents
    case deleteEvents
    case lockExpired
    case forgetRows
    case forgetMarks
    case claimEvents
    case omittedKey
    /// Returns the last key of a page.
    case pageEnd
    case pageOfAll
    case pageOfApp
    case pageOfUser
    case pageOfMarks
    /// Locks the rows of a page that are encrypted with a data key other than the given one.
    case lockOtherKeys
    /// Locks the rows of a page that belong to an app and have suspicions.
    case lockSuspected

    var prepared: PreparedStatement {
        switch self {
        case .version: PreparedStatement(PostgresVersion.sql)
        case .numberApps: PostgresChangeStatements.numberApps
        case .newApps: PreparedStatement("SELECT id, bundle_id FROM martlet.app WHERE id > $1 ORDER BY id", [.int2])
        case .lock: PostgresChangeStatements.lock
        case .lockStore: PostgresChangeStatements.lockStore
        case .lockRows: PostgresChangeStatements.lockRows
        case .readMarks:
            PreparedStatement("SELECT key, at, permanent FROM martlet.ended WHERE key = ANY($1)", [.uuidArray])
        case .updateRows: PostgresChangeStatements.updateRows
        case .insertRows: PostgresChangeStatements.insertRows
        case .upsertMarks: PostgresChangeStatements.upsertMarks
        case .insertEvents: PostgresChangeStatements.insertEvents
        case .deleteEvents: PreparedStatement("DELETE FROM martlet.event WHERE event = ANY($1)", [.uuidArray])
        case .lockExpired: PostgresMaintenanceStatements.lockExpired
        case .forgetRows: PostgresMaintenanceStatements.forgetRows
        case .forgetMarks: PostgresMaintenanceStatements.forgetMarks
        case .claimEvents: PostgresMaintenanceStatements.claimEvents
        case .omittedKey: PostgresMaintenanceStatements.omittedKey
        case .pageEnd: PostgresPageStatements.pageEnd
        case .pageOfAll: PostgresPageStatements.page("", [])
        case .pageOfApp:
            PostgresPageStatements.page("AND (token_key, slot) <= ($4, $5) AND app = $6", [.uuid, .uuid, .int2])
        case .pageOfUser: PostgresPageStatements.page("AND user_key = ANY($4)", [.uuidArray])
        case .pageOfMarks:
            PreparedStatement(
                "SELECT key, at, permanent FROM martlet.ended WHERE key > $1 ORDER BY key LIMIT $2", [.uuid, .int8])
        case .lockOtherKeys: PostgresPageStatements.lockPage("AND user_key IS NOT NULL AND key_id <> $5", .int2)
        case .lockSuspected: PostgresPageStatements.lockPage("AND suspicions > 0 AND app = $5", .int2)
        }
    }
}
