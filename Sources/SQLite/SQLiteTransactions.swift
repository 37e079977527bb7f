/// The prepared statements that control transactions and savepoints.
struct SQLiteTransactions {
    let begin: SQLiteStatement
    let commit: SQLiteStatement
    let rollback: SQLiteStatement
    let savepoint: SQLiteStatement
    /// The statement that ends the innermost savepoint, and keeps its changes.
    let release: SQLiteStatement
    /// The statement that reverts the changes since the innermost savepoint, which remains.
    let revert: SQLiteStatement

    init(_ connection: SQLiteConnection, _ access: SQLiteFile.Access) throws(SQLiteError) {
        switch access {
        case .readWrite: begin = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
        case .readOnly: begin = try SQLiteStatement("BEGIN", on: connection)
        }
        commit = try SQLiteStatement("COMMIT", on: connection)
        rollback = try SQLiteStatement("ROLLBACK", on: connection)
        savepoint = try SQLiteStatement("SAVEPOINT martlet", on: connection)
        release = try SQLiteStatement("RELEASE martlet", on: connection)
        revert = try SQLiteStatement("ROLLBACK TO martlet", on: connection)
    }
}
