import PostgreSQL

/// Statements that select rows after the key `($1, $2)`, in the order of their keys.
enum PostgresPageStatements {
    /// The statement that selects the key of the row at the offset `$3`. The statement selects no row if too few rows
    /// follow.
    static var pageEnd: PreparedStatement {
        PreparedStatement(
            """
            SELECT token_key, slot FROM martlet.registration WHERE (token_key, slot) > ($1, $2)
            ORDER BY token_key, slot OFFSET $3 LIMIT 1
            """, [.uuid, .uuid, .int8])
    }

    /// Returns a statement that selects at most `$3` rows that satisfy a condition.
    static func page(_ condition: String, _ parameters: [PostgresType]) -> PreparedStatement {
        PreparedStatement(
            """
            SELECT \(PostgresRowColumns.names) FROM martlet.registration
            WHERE (token_key, slot) > ($1, $2) \(condition) ORDER BY token_key, slot LIMIT $3
            """, [.uuid, .uuid, .int8] + parameters)
    }

    /// Returns a statement that locks and selects the rows up to the key `($3, $4)` if they satisfy a condition.
    static func lockPage(_ condition: String, _ parameter: PostgresType) -> PreparedStatement {
        PreparedStatement(
            """
            SELECT \(PostgresRowColumns.names) FROM martlet.registration
            WHERE (token_key, slot) > ($1, $2) AND (token_key, slot) <= ($3, $4) \(condition)
            ORDER BY token_key, slot FOR UPDATE
            """, [.uuid, .uuid, .uuid, .uuid, parameter])
    }
}
