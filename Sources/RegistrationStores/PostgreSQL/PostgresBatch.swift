import Crypto
import PostgreSQL
import Registrations

/// The transaction of a ``CommandBatch``.
final class PostgresBatch: PostgresOperation {
    private let batch: CommandBatch
    private var keyed: [KeyedCommand] = []
    /// The number of known apps when `keyed` was computed.
    private var appCount = 0
    private var stored: StoredRegistrations = [:]
    private var marks: [EndMark] = []
    private var write = PostgresWrite()
    private var outcomes: [CommandOutcome] = []

    init(_ batch: CommandBatch, _ context: PostgresWriterContext) {
        self.batch = batch
        super.init(context)
    }

    override var newApps: [String] {
        batch.appsOfNewRows.filter { context.apps.number(of: $0.text) == nil }.sorted().map(\.text)
    }

    override func addReads(to transaction: PostgresTransaction) throws(CryptoError) {
        appCount = context.apps.count
        let apps = context.apps.all
        keyed = []
        keyed.reserveCapacity(batch.commands.count + batch.ends.count)
        for command in batch.commands { keyed.append(try context.index.keyed(command, apps: apps)) }
        for end in batch.ends { keyed.append(.restore(end)) }
        let touched = TouchedKeys(keyed)
        var locks = PostgresParameters()
        locks.append(array: PostgresLocks.stripes(of: touched))
        transaction.execute(.lock, locks)
        var keys = PostgresParameters()
        keys.append(array: touched.tokens.sorted())
        keys.append(array: touched.devices.sorted())
        keys.append(array: touched.users.sorted())
        var rows: [StoredRow] = []
        transaction.execute(.lockRows, keys) { result throws(PostgresError) in
            rows = try StoredRow.all(in: result)
        }
        var marks = PostgresParameters()
        marks.append(array: touched.marks.sorted())
        transaction.execute(.readMarks, marks) { [self] rows throws(PostgresError) in
            self.marks = try EndMark.all(in: rows)
        }
        readApps(in: transaction) { [self] () throws(PostgresError) in
            stored = try context.stored(rows)
            found()
        }
    }

    override func decide() throws(CryptoError) -> PostgresTransactionMachine.Finding {
        guard newApps.isEmpty, appCount == context.apps.count || !erasesInAllApps else { return .outdated }
        do throws(MissingDataKey) {
            try context.coder.requireKeys(of: stored.values.lazy.map(\.row))
        } catch {
            return .impossible(StoreFault(error))
        }
        let change = batch.rules.apply(keyed, to: stored.values.lazy.map(\.registration), marks: marks)
        write = PostgresWrite()
        try write.add(change, replacing: stored, context)
        outcomes = []
        outcomes.reserveCapacity(change.outcomes.count)
        for outcome in change.outcomes {
            var events: [StoredEvent] = []
            for event in outcome.events {
                events.append(
                    try write.add(event, at: batch.rules.now, isHandedOut: true, context.coder))
            }
            outcomes.append(CommandOutcome(reply: outcome.reply, events: events))
        }
        for event in change.expirations {
            _ = try write.add(event, at: batch.rules.now, isHandedOut: false, context.coder)
        }
        return write.isEmpty ? .unchanged : .changed
    }

    private var erasesInAllApps: Bool {
        batch.commands.contains { command in
            if case .erase(_, nil, _) = command { true } else { false }
        }
    }

    override func addWrites(to transaction: PostgresTransaction) { write.addStatements(to: transaction) }

    override func completed() { batch.completed(outcomes) }

    override func failed(_ fault: StoreFault) { batch.failed(fault) }
}

extension EndMark {
    /// Reads a mark from each row of a result.
    static func all(in rows: borrowing PostgresRows) throws(PostgresError) -> [EndMark] {
        var all: [EndMark] = []
        for row in 0..<rows.count {
            all.append(
                EndMark(
                    key: try rows.value(row: row, column: 0), at: try rows.value(row: row, column: 1),
                    isPermanent: try rows.value(row: row, column: 2)))
        }
        return all
    }
}
