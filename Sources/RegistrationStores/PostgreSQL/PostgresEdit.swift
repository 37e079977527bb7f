import Crypto
import PostgreSQL
import Registrations

/// The transaction of an ``EditPage``.
final class PostgresEdit: PostgresOperation {
    private let page: EditPage
    private var last: Registration.Key?
    private var rows: [StoredRow] = []
    private var write = PostgresWrite()
    private var editedCount = 0
    private var unreadableCount = 0

    init(_ page: EditPage, _ context: PostgresWriterContext) {
        self.page = page
        super.init(context)
    }

    override func addReads(to transaction: PostgresTransaction) throws(CryptoError) {
        // The parts of an import lock rows in another order than this transaction. A share of the lock of the store
        // prevents a deadlock.
        transaction.execute(.lock, PostgresLocks.parameters(stripes: []))
        transaction.execute(.pageEnd, .page(after: page.after, Int64(page.rowsMax - 1))) {
            [self] result throws(PostgresError) in
            last = result.count == 0 ? nil : try Registration.Key(result, row: 0, column: 0)
        }
        readApps(in: transaction) { [self] () throws(PostgresError) in lockRows(in: transaction) }
    }

    private func lockRows(in transaction: PostgresTransaction) {
        let statement: PostgresWriterStatement
        let condition: Int
        switch page.edit {
        case .rekey: (statement, condition) = (.lockOtherKeys, context.coder.activeKeyID)
        case .unsuspend(let app):
            guard let number = context.apps.number(of: app) else {
                (last, rows) = (nil, [])
                return found()
            }
            (statement, condition) = (.lockSuspected, number)
        }
        var parameters = PostgresParameters()
        parameters.append(page.after ?? .least)
        parameters.append(last ?? .greatest)
        parameters.append(Int16(clamping: condition))
        transaction.execute(statement, parameters) { [self] result throws(PostgresError) in
            rows = try StoredRow.all(in: result)
            found()
        }
    }

    override func decide() throws(CryptoError) -> PostgresTransactionMachine.Finding {
        (editedCount, unreadableCount, write) = (0, 0, PostgresWrite())
        for row in rows {
            guard let edited = try edited(row) else {
                unreadableCount += 1
                continue
            }
            write.update(edited)
            editedCount += 1
        }
        return write.isEmpty ? .unchanged : .changed
    }

    private func edited(_ row: StoredRow) throws(CryptoError) -> StoredRow? {
        switch page.edit {
        case .rekey: return try context.coder.rekeyed(row)
        case .unsuspend:
            var row = row
            (row.suspicions, row.suspectSince) = (0, nil)
            return row
        }
    }

    override func addWrites(to transaction: PostgresTransaction) { write.addStatements(to: transaction) }

    override func completed() {
        page.completed(last: last, editedCount: editedCount, unreadableCount: unreadableCount)
    }

    override func failed(_ fault: StoreFault) { page.failed(fault) }
}

extension PostgresParameters {
    /// Returns the parameters of a page: the key before the page, and a number of rows.
    static func page(after key: Registration.Key?, _ rowCount: Int64) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(key ?? .least)
        parameters.append(rowCount)
        return parameters
    }
}

extension Registration.Key {
    /// The key before all others. A keyed hash of zero is as improbable as a collision.
    static let least = Registration.Key(token: UUIDValue(high: 0, low: 0))
    /// The key after all others.
    static let greatest = Registration.Key(
        token: UUIDValue(high: .max, low: .max), slot: UUIDValue(high: .max, low: .max))
}
