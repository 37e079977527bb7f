import Crypto
import Registrations
import SQLite

/// The statements, blind index and row coder of one connection. Used on the thread of its file only. Jobs call its
/// functions within a transaction of the thread.
final class SQLiteSession {
    let index: BlindIndex
    let coder: RowCoder
    let rows: SQLiteRowStatements
    let lookups: SQLiteLookupStatements
    let marks: SQLiteMarkStatements
    let events: SQLiteEventStatements
    let apps: SQLiteAppStatements
    let omittedKeys: SQLiteOmittedKeyStatement

    init(_ file: SQLiteFile, _ keys: RegistrationKeys) throws(SQLiteError) {
        (index, coder) = try Self.withCrypto { () throws(CryptoError) in
            (try BlindIndex(keys), try RowCoder(keys))
        }
        // Statements read the array with `json_each`.
        let keyIDs = "[\(coder.keyIDs.map { "\($0)" }.joined(separator: ","))]"
        rows = try SQLiteRowStatements(file, keyIDs: keyIDs)
        lookups = try SQLiteLookupStatements(file)
        marks = try SQLiteMarkStatements(file)
        events = try SQLiteEventStatements(file, keyIDs: keyIDs)
        apps = try SQLiteAppStatements(file)
        omittedKeys = try SQLiteOmittedKeyStatement(file, keyIDs: keyIDs)
    }

    /// Runs `body`, and converts its errors into errors of a job.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the input is invalid, or of code `memory` if OpenSSL fails.
    static func withCrypto<Value>(_ body: () throws(CryptoError) -> Value) throws(SQLiteError) -> Value {
        do throws(CryptoError) {
            return try body()
        } catch {
            switch error.code {
            case .malformed, .unsupported, .invalidArgument: throw SQLiteError(.value, error.message)
            case .failed: throw SQLiteError(.memory, error.message)
            }
        }
    }

    /// Runs `body`, and converts its error into that of a job.
    ///
    /// - Throws: ``SQLiteError`` of code `missingKey`.
    static func withKeys<Value>(_ body: () throws(MissingDataKey) -> Value) throws(SQLiteError) -> Value {
        do throws(MissingDataKey) {
            return try body()
        } catch {
            throw SQLiteError(.missingKey, StoreFault(error).sentence)
        }
    }

    /// A row and its registration.
    typealias Stored = (row: StoredRow, registration: Registration)

    /// Returns the rows with these keys and their registrations. Omits missing rows, and rows of a newer version of
    /// Martlet.
    func stored(
        _ keys: some Sequence<Registration.Key>, _ apps: SQLiteAppStatements.Apps
    ) throws(SQLiteError) -> [Stored] {
        var found: [Stored] = []
        for key in keys {
            guard let row = try rows.row(key), let stored = stored(row, apps) else { continue }
            found.append(stored)
        }
        return found
    }

    /// Returns nil if the app, environment or kind of the row is unknown.
    func stored(_ row: StoredRow, _ apps: SQLiteAppStatements.Apps) -> Stored? {
        guard let app = apps.names[row.app], let registration = coder.registration(of: row, app: app) else {
            return nil
        }
        return (row, registration)
    }

    /// Writes the rows and marks of a change.
    func write(
        _ change: RegistrationRules.Change, replacing stored: [Registration.Key: Stored],
        _ apps: inout SQLiteAppStatements.Apps
    ) throws(SQLiteError) {
        for registration in change.rows {
            let app = try self.apps.number(of: registration.app, in: &apps)
            let previous = stored[registration.key]
            let row = try Self.withCrypto { () throws(CryptoError) in
                try coder.row(of: registration, app: app, replacing: previous)
            }
            try rows.write(row, replacing: previous?.row)
        }
        for mark in change.marks { try marks.write(mark) }
    }

    /// Stores events, and returns them.
    ///
    /// - Parameter isHandedOut: Whether the job passes the events to its receiver.
    func store(
        _ events: [RegistrationEvent], at time: Int64, isHandedOut: Bool
    ) throws(SQLiteError) -> [StoredEvent] {
        var stored: [StoredEvent] = []
        for event in events {
            let (event, sealed) = try Self.withCrypto { () throws(CryptoError) in
                let event = StoredEvent(
                    id: try UUIDValue.random(), app: event.app, body: event.body, mayBeDuplicate: false)
                return (event, try coder.seal(event))
            }
            try self.events.insert(event.id, at: time, isHandedOut: isHandedOut, sealed)
            stored.append(event)
        }
        return stored
    }
}
