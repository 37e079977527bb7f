import CPostgreSQL

/// libpq, loaded on first use. A worker without a PostgreSQL store needs no libpq (decision 30).
public enum PostgresLibrary {
    /// The first version with pipeline mode.
    static let versionMin = 140_000

    /// The reason why libpq cannot be used; nil if it can.
    private static let failure: PostgresError? = {
        if let reason = martlet_pq_load() {
            return PostgresError(
                .unavailable, "cannot load libpq: \(String(cString: reason)); install the package libpq5")
        }
        return failure(ofVersion: Int(martlet_pq_library_version()))
    }()

    static func failure(ofVersion version: Int) -> PostgresError? {
        guard version < versionMin else { return nil }
        return PostgresError(
            .unavailable,
            "cannot use libpq \(text(ofVersion: version)): pipeline mode needs version 14; "
                + "install a newer package libpq5")
    }

    /// Loads libpq. The first call reads files. Make that call before lanes start. Any thread may call the function.
    ///
    /// - Throws: ``PostgresError`` of code `unavailable` if libpq cannot be loaded or is older than 14.
    public static func load() throws(PostgresError) {
        if let failure { throw failure }
    }

    /// Returns the version of the loaded library, such as `15.18`.
    ///
    /// - Throws: the error of ``load()``.
    public static func version() throws(PostgresError) -> String {
        try load()
        return text(ofVersion: Int(martlet_pq_library_version()))
    }

    /// Returns the text of a version number of libpq or the server, such as `15.18` for 150018.
    static func text(ofVersion number: Int) -> String { "\(number / 10_000).\(number % 10_000)" }
}
