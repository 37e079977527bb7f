import Crypto
import PostgreSQL
import Registrations

/// The transaction of a ``Maintenance``.
final class PostgresMaintenance: PostgresOperation {
    private let maintenance: Maintenance
    private var stored: StoredRegistrations = [:]
    private var forgottenRowCount = 0
    private var forgottenMarkCount = 0
    private var claimedCount = 0
    private var claimed: [StoredEvent] = []
    /// The data key of rows or events that the statements omit.
    private var omittedKey: MissingDataKey?
    private var write = PostgresWrite()
    private var isComplete = false

    init(_ maintenance: Maintenance, _ context: PostgresWriterContext) {
        self.maintenance = maintenance
        super.init(context)
    }

    override func addReads(to transaction: PostgresTransaction) throws(CryptoError) {
        let now = maintenance.rules.now
        var rows: [StoredRow] = []
        var expired = parameters(now)
        expired.append(Int16(clamping: KnownRows.environmentMax))
        expired.append(Int16(clamping: KnownRows.kindMax))
        let keyIDs = context.coder.keyIDs.map { Int16(clamping: $0) }
        expired.append(array: keyIDs)
        transaction.execute(.lockExpired, expired) { result throws(PostgresError) in
            rows = try StoredRow.all(in: result)
        }
        let oldest = now - RegistrationRules.tombstoneMillisecondsMax
        transaction.execute(.forgetRows, parameters(oldest)) { [self] result throws(PostgresError) in
            forgottenRowCount = result.affectedCount
        }
        transaction.execute(.forgetMarks, parameters(oldest)) { [self] result throws(PostgresError) in
            forgottenMarkCount = result.affectedCount
        }
        var claim = PostgresParameters()
        claim.append(now)
        claim.append(now - Maintenance.eventAgeMillisecondsMin)
        claim.append(Int64(maintenance.rowsMax))
        claim.append(array: keyIDs)
        transaction.execute(.claimEvents, claim) { [self] result throws(PostgresError) in
            try readClaimed(result)
        }
        var omitted = PostgresParameters()
        omitted.append(now - Maintenance.eventAgeMillisecondsMin)
        omitted.append(now)
        omitted.append(Int64(maintenance.rowsMax))
        omitted.append(array: keyIDs)
        transaction.execute(.omittedKey, omitted) { [self] result throws(PostgresError) in
            omittedKey = nil
            guard result.count > 0 else { return }
            omittedKey = MissingDataKey(id: Int(try result.value(Int16.self, row: 0, column: 0)))
        }
        readApps(in: transaction) { [self] () throws(PostgresError) in
            stored = try context.stored(rows)
            found()
        }
    }

    private func parameters(_ time: Int64) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(time)
        parameters.append(Int64(maintenance.rowsMax))
        return parameters
    }

    private func readClaimed(_ rows: borrowing PostgresRows) throws(PostgresError) {
        (claimedCount, claimed) = (rows.count, [])
        for row in 0..<rows.count {
            guard let sealed = try RowCipher.Sealed(rows, row: row, column: 2) else { continue }
            let (id, mayBeDuplicate): (UUIDValue, Bool) = (
                try rows.value(row: row, column: 0), try rows.value(row: row, column: 1)
            )
            // No data key is missing here, because the statement omits events of missing data keys.
            if let event = try? context.coder.event(id: id, sealed: sealed, mayBeDuplicate: mayBeDuplicate) {
                claimed.append(event)
            }
        }
    }

    override func decide() throws(CryptoError) -> PostgresTransactionMachine.Finding {
        let change = maintenance.rules.expire(stored.values.lazy.map(\.registration))
        write = PostgresWrite()
        try write.add(change, replacing: stored, context)
        // This round hands these events to no process. A later round claims them.
        for event in change.expirations {
            _ = try write.add(event, at: maintenance.rules.now, isHandedOut: false, context.coder)
        }
        let counts = [change.rows.count, forgottenRowCount, forgottenMarkCount, claimedCount]
        isComplete = counts.allSatisfy { $0 < maintenance.rowsMax }
        return counts.contains { $0 > 0 } ? .changed : .unchanged
    }

    override func addWrites(to transaction: PostgresTransaction) { write.addStatements(to: transaction) }

    override func completed() {
        if let omittedKey { maintenance.omitted(omittedKey) }
        maintenance.completed(claimed, isComplete: isComplete)
    }

    override func failed(_ fault: StoreFault) { maintenance.failed(fault) }
}
