import PostgreSQL
public import Registrations

/// The version of a store's schema.
public struct PostgresVersion: Sendable, Hashable {
    /// The number of the newest applied migration; 0 for a database without a schema.
    public var version: Int
    /// The lowest version that a program may require and still use this schema.
    public var oldestReader: Int

    init(version: Int, oldestReader: Int) {
        (self.version, self.oldestReader) = (version, oldestReader)
    }

    static let none = PostgresVersion(version: 0, oldestReader: 0)

    static let sql = "SELECT version, oldest_reader FROM martlet.version"

    /// Reads the version.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` unless the table has exactly one row of two integers.
    init(_ rows: borrowing PostgresRows) throws(PostgresError) {
        guard rows.count == 1 else {
            throw PostgresError(.unexpectedResult, "the table martlet.version has \(rows.count) rows instead of 1")
        }
        self.init(
            version: Int(try rows.value(Int32.self, row: 0, column: 0)),
            oldestReader: Int(try rows.value(Int32.self, row: 0, column: 1)))
    }

    /// Returns the reason why a program that requires the version `required` cannot use this schema; nil if the program
    /// can use it.
    public func fault(required: Int) -> StoreFault? {
        if version < required {
            return StoreFault(
                .schema,
                "cannot use the registration store: its schema has version \(version), and this version of Martlet "
                    + "requires \(required); \(StoreFault.migration)")
        }
        if oldestReader > required {
            return StoreFault(
                .schema,
                "cannot use the registration store: its schema has version \(version), which requires a newer version "
                    + "of Martlet; install the version of Martlet that migrated the schema")
        }
        return nil
    }
}
