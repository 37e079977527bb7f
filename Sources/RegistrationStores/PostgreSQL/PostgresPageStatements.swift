import PostgreSQL

/// Statements about the rows after a key, `$1` and `$2`, in the order of their keys.
enum PostgresPageStatements {
    /// Returns the key at an offset; no row if fewer rows follow.
    static var pageEnd: PreparedStatement {
        PreparedStatement(
            """
            SELECT token_key, slot FROM martlet.registration WHERE (token_key, slot) > ($1, $2)
            ORDER BY token_key, slot OFFSET $3 LIMIT 1
            """, [.uuid, .uuid, .int8])
    }

    /// Returns at most `$3` rows that satisfy a condition.
    static func page(_ condition: String, _ parameters: [PostgresType]) -> PreparedStatement {
        PreparedStatement(
            """
            SELECT \(PostgresRowColumns.names) FROM martlet.registration
            WHERE (token_key, slot) > ($1, $2) \(condition) ORDER BY token_key, slot LIMIT $3
            """, [.uuid, .uuid, .int8] + parameters)
    }

    /// Locks the rows up to the key `$3` and `$4` that satisfy a condition.
    static func lockPage(_ condition: String, _ parameter: PostgresType) -> PreparedStatement {
        PreparedStatement(
            """
            SELECT \(PostgresRowColumns.names) FROM martlet.registration
            WHERE (token_key, slot) > ($1, $2) AND (token_key, slot) <= ($3, $4) \(condition)
            ORDER BY token_key, slot FOR UPDATE
            """, [.uuid, .uuid, .uuid, .uuid, parameter])
    }
}
