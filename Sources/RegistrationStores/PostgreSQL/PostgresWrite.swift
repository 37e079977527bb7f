import Crypto
import PostgreSQL
import Registrations

/// The registrations, marks and events that a transaction writes.
struct PostgresWrite {
    private struct Event {
        var id: UUIDValue
        var at: Int64
        var isHandedOut: Bool
        var sealed: RowCipher.Sealed
    }

    private var updated: [StoredRow] = []
    private var inserted: [StoredRow] = []
    private var marks: [EndMark] = []
    private var events: [Event] = []

    var isEmpty: Bool { updated.isEmpty && inserted.isEmpty && marks.isEmpty && events.isEmpty }

    mutating func update(_ row: StoredRow) { updated.append(row) }

    /// Adds the rows and marks of a change. Returns the rows, in the order of the change.
    ///
    /// - Parameter stored: The rows that the transaction read.
    /// - Throws: ``CryptoError`` if an identity cannot be encrypted.
    @discardableResult
    mutating func add(
        _ change: RegistrationRules.Change, replacing stored: StoredRegistrations, _ context: PostgresWriterContext
    ) throws(CryptoError) -> [StoredRow] {
        var rows: [StoredRow] = []
        rows.reserveCapacity(change.rows.count)
        for registration in change.rows {
            guard let app = context.apps.number(of: registration.app) else {
                preconditionFailure("cannot write a registration: its app has no number")
            }
            let previous = stored[registration.key]
            let row = try context.coder.row(of: registration, app: app, replacing: previous)
            if previous == nil { inserted.append(row) } else { updated.append(row) }
            rows.append(row)
        }
        marks += change.marks
        return rows
    }

    /// Adds an event, and returns it.
    ///
    /// - Parameter isHandedOut: Whether the operation passes the event to its receiver.
    /// - Throws: ``CryptoError`` if OpenSSL fails.
    mutating func add(
        _ event: RegistrationEvent, at: Int64, isHandedOut: Bool, _ coder: RowCoder
    ) throws(CryptoError) -> StoredEvent {
        let event = StoredEvent(id: try .random(), app: event.app, body: event.body, mayBeDuplicate: false)
        events.append(Event(id: event.id, at: at, isHandedOut: isHandedOut, sealed: try coder.seal(event)))
        return event
    }

    /// Adds one statement for each list that is not empty.
    func addStatements(to transaction: PostgresTransaction) {
        if !updated.isEmpty { transaction.execute(.updateRows, Self.parameters(of: updated)) }
        if !inserted.isEmpty { transaction.execute(.insertRows, Self.parameters(of: inserted)) }
        if !marks.isEmpty {
            var parameters = PostgresParameters()
            parameters.append(array: marks.map(\.key))
            parameters.append(array: marks.map(\.at))
            parameters.append(array: marks.map(\.isPermanent))
            transaction.execute(.upsertMarks, parameters)
        }
        if !events.isEmpty {
            var parameters = PostgresParameters()
            parameters.append(array: events.map(\.id))
            parameters.append(array: events.map(\.at))
            parameters.append(array: events.map(\.isHandedOut))
            parameters.append(array: events.map { Int16(clamping: $0.sealed.keyID) })
            parameters.append(array: events.map(\.sealed.ciphertext))
            transaction.execute(.insertEvents, parameters)
        }
    }

    private static func parameters(of rows: [StoredRow]) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(columnsOf: rows)
        return parameters
    }
}
