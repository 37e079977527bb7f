import CPostgreSQL

/// libpq, loaded on first use: a worker without registrations needs no PostgreSQL (decision 30).
public enum PostgresLibrary {
    /// The first version with pipeline mode.
    static let versionMin = 140_000

    /// The error of loading libpq; nil if it was loaded.
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

    /// Loads libpq. Reads files at its first call, so call it before lanes start. Callable from any thread.
    ///
    /// - Throws: ``PostgresError`` of code `unavailable` if libpq is missing or older than 14.
    public static func load() throws(PostgresError) {
        if let failure { throw failure }
    }

    /// Returns the version of the loaded library, such as `15.18`.
    ///
    /// - Throws: as ``load()``.
    public static func version() throws(PostgresError) -> String {
        try load()
        return text(ofVersion: Int(martlet_pq_library_version()))
    }

    /// Returns the text of a number in the format of libpq and server, such as 150018.
    static func text(ofVersion number: Int) -> String { "\(number / 10_000).\(number % 10_000)" }
}
