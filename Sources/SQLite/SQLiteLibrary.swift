import CSQLite

/// libsqlite3, loaded with `dlopen` at its first use. A worker without an SQLite store does not load it.
public enum SQLiteLibrary {
    /// The first version with STRICT tables and `SQLITE_OPEN_EXRESCODE`.
    static let versionMin: Int32 = 3_037_000

    /// The reason why libsqlite3 cannot be used; nil if it can be used.
    private static let failure: SQLiteError? = {
        let remedy = "install SQLite 3.37 or later (Debian package libsqlite3-0), and restart the workers"
        let problem: String?
        if let reason = martlet_sqlite_load() {
            problem = "cannot load libsqlite3: \(String(cString: reason))"
        } else if martlet_sqlite_version_number() < versionMin {
            problem = "cannot use libsqlite3: version \(String(cString: martlet_sqlite_version())) is too old"
        } else if martlet_sqlite_is_threadsafe() == 0 {
            problem = "cannot use libsqlite3: it was built without support for threads"
        } else {
            problem = nil
        }
        return problem.map { SQLiteError(.unavailable, "\($0); \(remedy)") }
    }()

    static func load() throws(SQLiteError) {
        if let failure { throw failure }
    }

    /// Loads libsqlite3 if necessary, and returns its version, such as `3.40.1`.
    ///
    /// - Throws: ``SQLiteError`` of code `unavailable` if libsqlite3 cannot be used.
    public static func version() throws(SQLiteError) -> String {
        try load()
        return String(cString: martlet_sqlite_version())
    }
}
