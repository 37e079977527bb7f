import CSQLite

/// libsqlite3, loaded when the first file is opened. A worker without a store of registrations does not load it
/// (decision 30).
public enum SQLiteLibrary {
    /// The first version with STRICT tables and `SQLITE_OPEN_EXRESCODE`.
    static let versionMin: Int32 = 3_037_000

    /// The error of loading libsqlite3; nil if it was loaded.
    private static let failure: SQLiteError? = {
        let remedy = "install SQLite 3.37 or later (Debian package libsqlite3-0), and restart the workers"
        let problem: String?
        if let reason = martlet_sqlite_load() {
            problem = "cannot be loaded: \(String(cString: reason))"
        } else if martlet_sqlite_version_number() < versionMin {
            problem = "is too old: version \(String(cString: martlet_sqlite_version()))"
        } else if martlet_sqlite_is_threadsafe() == 0 {
            problem = "was built without support for threads"
        } else {
            problem = nil
        }
        return problem.map { SQLiteError(.unavailable, "libsqlite3 \($0); \(remedy)") }
    }()

    static func load() throws(SQLiteError) {
        if let failure { throw failure }
    }

    /// Returns the version of the loaded library, such as `3.40.1`, not of the library at build time.
    ///
    /// - Throws: ``SQLiteError`` of code `unavailable` if libsqlite3 cannot be used.
    public static func version() throws(SQLiteError) -> String {
        try load()
        return String(cString: martlet_sqlite_version())
    }
}
