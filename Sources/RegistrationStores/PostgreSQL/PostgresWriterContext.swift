import PostgreSQL
import Registrations

/// The rows that a transaction read, and their registrations, by key.
typealias StoredRegistrations = [Registration.Key: (row: StoredRow, registration: Registration)]

/// The connection of a writer and the other objects that its operations share.
final class PostgresWriterContext {
    let connection: PostgresStoreConnection
    let index: BlindIndex
    let coder: RowCoder
    var apps = PostgresApps()
    /// Maximum number of commands and ends in a part of a batch.
    var partCommandsMax = PostgresBatch.partCommandsMax

    init(connection: PostgresStoreConnection, index: BlindIndex, coder: RowCoder) {
        (self.connection, self.index, self.coder) = (connection, index, coder)
    }

    /// Inserts the apps of a statement's rows into `apps`.
    func insertApps(_ rows: borrowing PostgresRows) throws(PostgresError) {
        for row in 0..<rows.count {
            apps.insert(
                try rows.value(String.self, row: row, column: 1),
                number: Int(try rows.value(Int16.self, row: row, column: 0)))
        }
    }

    /// Returns rows and their registrations by key. Omits rows whose environment or kind is unknown. A newer version of
    /// Martlet wrote such rows.
    func stored(_ rows: [StoredRow]) throws(PostgresError) -> StoredRegistrations {
        var stored = StoredRegistrations(minimumCapacity: rows.count)
        for row in rows {
            if let registration = try registration(of: row) { stored[row.key] = (row, registration) }
        }
        return stored
    }

    /// Returns the registration of a row; nil if the environment or kind of the row is unknown.
    func registration(of row: StoredRow) throws(PostgresError) -> Registration? {
        guard let app = apps.name(of: row.app) else {
            throw PostgresError(.unexpectedResult, "the table martlet.app has no row with the id \(row.app)")
        }
        return coder.registration(of: row, app: app)
    }
}
