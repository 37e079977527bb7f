import PostgreSQL
import Registrations

/// Rows that a transaction read, by their keys.
typealias StoredRegistrations = [Registration.Key: (row: StoredRow, registration: Registration)]

/// The connection of a writer, and the state that its operations share.
final class PostgresWriterContext {
    let connection: PostgresStoreConnection
    let index: BlindIndex
    let coder: RowCoder
    var apps = PostgresApps()

    init(connection: PostgresStoreConnection, index: BlindIndex, coder: RowCoder) {
        (self.connection, self.index, self.coder) = (connection, index, coder)
    }

    /// Reads the apps that were numbered since the last call.
    func insertApps(_ rows: borrowing PostgresRows) throws(PostgresError) {
        for row in 0..<rows.count {
            apps.insert(
                try rows.value(String.self, row: row, column: 1),
                number: Int(try rows.value(Int16.self, row: row, column: 0)))
        }
    }

    /// Returns the registrations of rows by their keys, without the rows of a newer version of Martlet.
    func stored(_ rows: [StoredRow]) throws(PostgresError) -> StoredRegistrations {
        var stored = StoredRegistrations(minimumCapacity: rows.count)
        for row in rows {
            if let registration = try registration(of: row) { stored[row.key] = (row, registration) }
        }
        return stored
    }

    /// Returns the registration of a row; nil if a newer version of Martlet wrote the row.
    func registration(of row: StoredRow) throws(PostgresError) -> Registration? {
        guard let app = apps.name(of: row.app) else {
            throw PostgresError(.unexpectedResult, "the table martlet.app does not name app \(row.app)")
        }
        return coder.registration(of: row, app: app)
    }
}
