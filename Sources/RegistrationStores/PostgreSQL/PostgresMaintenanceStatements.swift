import PostgreSQL

/// The statements of maintenance. They skip rows that other sessions have locked, so they take part in no deadlock.
/// They omit rows and events whose data key the key file lacks. `omittedKey` returns such a key.
///
/// Subqueries that lock rows are in ARRAY constructors or materialized, because a plan that executes a subquery again
/// could exceed its LIMIT.
enum PostgresMaintenanceStatements {
    static var lockExpired: PreparedStatement {
        PreparedStatement(
            """
            SELECT \(PostgresRowColumns.names) FROM martlet.registration
            WHERE expires_at <= $1 AND environment <= $3 AND kind <= $4 AND (key_id IS NULL OR key_id = ANY($5))
            ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
            """, [.int8, .int8, .int2, .int2, .int2Array])
    }

    static var forgetRows: PreparedStatement {
        PreparedStatement(
            """
            DELETE FROM martlet.registration WHERE ctid = ANY(ARRAY(
              SELECT ctid FROM martlet.registration WHERE ended_at < $1
              ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED))
            """, [.int8, .int8])
    }

    static var forgetMarks: PreparedStatement {
        PreparedStatement(
            """
            DELETE FROM martlet.ended WHERE ctid = ANY(ARRAY(
              SELECT ctid FROM martlet.ended WHERE at < $1 AND NOT permanent
              ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))
            """, [.int8, .int8])
    }

    static var claimEvents: PreparedStatement {
        PreparedStatement(
            """
            WITH claimed AS MATERIALIZED (
              SELECT event, handed_out FROM martlet.event WHERE at <= $2 AND key_id = ANY($4)
              ORDER BY at, event LIMIT $3 FOR UPDATE SKIP LOCKED)
            UPDATE martlet.event e SET at = $1, handed_out = true FROM claimed c WHERE e.event = c.event
            RETURNING e.event, c.handed_out, e.key_id, e.ciphertext
            """, [.int8, .int8, .int8, .int2Array])
    }

    /// The statement that returns a data key that the key file lacks, and that the oldest events or expired rows need.
    static var omittedKey: PreparedStatement {
        PreparedStatement(
            """
            SELECT key_id FROM (SELECT key_id FROM martlet.event WHERE at <= $1 ORDER BY at, event LIMIT $3) e
            WHERE key_id <> ALL($4)
            UNION ALL
            SELECT key_id FROM (
              SELECT key_id FROM martlet.registration WHERE expires_at <= $2 ORDER BY expires_at LIMIT $3) r
            WHERE key_id <> ALL($4)
            LIMIT 1
            """, [.int8, .int8, .int8, .int2Array])
    }
}
