extension SQLiteConnection {
    /// Sets up the connection of a writer, and applies the missing steps of the schema.
    ///
    /// - Throws: ``SQLiteError``. The file is unchanged if the code is `foreign` or `newerVersion`.
    func migrate(to schema: SQLiteSchema) throws(SQLiteError) {
        let version = try version(of: schema)
        let mode = try first("PRAGMA journal_mode = WAL") { row throws(SQLiteError) in try row.text(0) }
        guard mode == "wal" else {
            throw SQLiteError(
                .cannotOpen, "cannot use \(path): the file system has no shared memory; move the file to a local disk")
        }
        try execute("PRAGMA synchronous = FULL")
        try execute("PRAGMA foreign_keys = OFF")
        try execute("PRAGMA secure_delete = ON")
        try execute("PRAGMA trusted_schema = OFF")
        // A savepoint keeps copies of the pages that change. By default, copies beyond 64 KB go to a temporary file.
        try execute("PRAGMA temp_store = MEMORY")
        try execute(text: "PRAGMA journal_size_limit = \(SQLiteFile.walBytesMax)")
        for (index, step) in schema.steps.enumerated().dropFirst(version) { try apply(step, index, schema) }
    }

    /// Applies one step in a transaction. After an error, the caller closes the connection, which rolls the step back.
    private func apply(_ step: StaticString, _ index: Int, _ schema: SQLiteSchema) throws(SQLiteError) {
        try execute("BEGIN IMMEDIATE")
        try execute(step)
        try execute(text: "PRAGMA application_id = \(schema.application)")
        try execute(text: "PRAGMA user_version = \(index + 1)")
        try execute("COMMIT")
    }

    /// Sets up the connection of a reader.
    ///
    /// - Throws: ``SQLiteError``, such as `foreign`, `newerVersion` or `olderVersion`.
    func requireVersion(of schema: SQLiteSchema) throws(SQLiteError) {
        let version = try version(of: schema)
        guard version == schema.version else {
            throw SQLiteError(
                .olderVersion,
                "cannot read \(path): the file has version \(version), and this program needs version \(schema.version)"
                    + "; start a worker of this version once")
        }
        try execute("PRAGMA trusted_schema = OFF")
    }

    /// Returns the number of steps of the schema that were applied to the file; 0 for an empty file.
    private func version(of schema: SQLiteSchema) throws(SQLiteError) -> Int {
        let application = try integer("PRAGMA application_id")
        let version = try integer("PRAGMA user_version")
        if application != schema.application {
            guard application == 0, version == 0, try integer("SELECT count(*) FROM sqlite_schema") == 0 else {
                throw SQLiteError(
                    .foreign, "cannot use \(path): the file is a database of another program; configure another file")
            }
        }
        guard version >= 0 else {
            throw SQLiteError(
                .corrupt, "cannot use \(path): the file has a negative version; restore the file from a backup")
        }
        guard version <= schema.version else {
            throw SQLiteError(
                .newerVersion,
                "cannot use \(path): the file has version \(version), and this program knows version \(schema.version)"
                    + "; install the newer program again")
        }
        return Int(version)
    }

    private func integer(_ sql: StaticString) throws(SQLiteError) -> Int64 {
        try first(sql) { row throws(SQLiteError) in try row.int64(0) } ?? 0
    }
}
