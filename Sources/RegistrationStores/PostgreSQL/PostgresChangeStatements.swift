import PostgreSQL

/// The statements that number apps and that lock and write rows.
enum PostgresChangeStatements {
    /// The statement that numbers new apps. Two sessions that number apps at the same time compute the same numbers.
    /// The later one skips the apps whose number is in use, and its operation numbers them in a repeat.
    static var numberApps: PreparedStatement {
        PreparedStatement(
            """
            INSERT INTO martlet.app (id, bundle_id)
            SELECT (SELECT coalesce(max(id), 0) FROM martlet.app) + row_number() OVER (ORDER BY name), name
            FROM unnest($1) AS name WHERE NOT EXISTS (SELECT FROM martlet.app a WHERE a.bundle_id = name)
            ON CONFLICT DO NOTHING
            """, [.textArray])
    }

    /// The statement that takes the advisory locks of a transaction: a share of the lock of the store, and the stripes
    /// in the order of the array. OFFSET 0 keeps the planner from removing the calls.
    static var lock: PreparedStatement {
        PreparedStatement(
            """
            SELECT pg_advisory_xact_lock_shared(\(PostgresLocks.namespace), \(PostgresLocks.store)), (
              SELECT count(*) FROM (
                SELECT pg_advisory_xact_lock(\(PostgresLocks.namespace), stripe) FROM unnest($1) AS stripe OFFSET 0) l)
            """, [.int4Array])
    }

    /// The statement that takes the lock of the store alone.
    static var lockStore: PreparedStatement {
        PreparedStatement("SELECT pg_advisory_xact_lock(\(PostgresLocks.namespace), \(PostgresLocks.store))")
    }

    /// The statement that locks and reads rows, in the order of their keys, so that sessions do not deadlock.
    static var lockRows: PreparedStatement {
        PreparedStatement(
            """
            SELECT \(PostgresRowColumns.names) FROM martlet.registration
            WHERE token_key = ANY($1) OR device_key = ANY($2) OR user_key = ANY($3)
            ORDER BY token_key, slot FOR UPDATE
            """, [.uuidArray, .uuidArray, .uuidArray])
    }

    static var updateRows: PreparedStatement {
        PreparedStatement(
            """
            UPDATE martlet.registration r SET \(PostgresRowColumns.assignments(from: "u"))
            FROM unnest(\(PostgresRowColumns.parameters)) AS u(\(PostgresRowColumns.names))
            WHERE r.token_key = u.token_key AND r.slot = u.slot
            """, PostgresRowColumns.types)
    }

    /// The statement that inserts rows. A row that exists already fails the transaction, which is then repeated.
    static var insertRows: PreparedStatement {
        PreparedStatement(
            """
            INSERT INTO martlet.registration (\(PostgresRowColumns.names))
            SELECT * FROM unnest(\(PostgresRowColumns.parameters))
            """, PostgresRowColumns.types)
    }

    static var upsertMarks: PreparedStatement {
        PreparedStatement(
            """
            INSERT INTO martlet.ended (key, at, permanent) SELECT * FROM unnest($1, $2, $3)
            ON CONFLICT (key) DO UPDATE SET at = excluded.at, permanent = excluded.permanent
            """, [.uuidArray, .int8Array, .boolArray])
    }

    static var insertEvents: PreparedStatement {
        PreparedStatement(
            """
            INSERT INTO martlet.event (event, at, handed_out, key_id, ciphertext)
            SELECT * FROM unnest($1, $2, $3, $4, $5)
            """, [.uuidArray, .int8Array, .boolArray, .int2Array, .byteaArray])
    }
}
