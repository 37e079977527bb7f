import Crypto
import EventLoop
import PostgreSQL
import Registrations

/// The transaction of a ``CommandBatch``.
///
/// The transaction applies the commands in parts. The reads of the next parts are in flight while this process decides
/// the changes of a part, so that neither side waits for the other. A read may therefore precede the writes of earlier
/// parts, which ``PostgresBatchChanges`` adds. Batches of the queue have only one part.
final class PostgresBatch: PostgresOperation {
    /// Maximum number of commands and ends in a batch of an import. While its transaction is open, workers apply no
    /// commands.
    static let commandsMax = 4096
    /// Maximum number of commands and ends in a part. Larger parts need more memory for the rows of their users, and
    /// smaller parts find fewer keys in each page of an index.
    static let partCommandsMax = 1024
    /// Maximum number of parts whose reads are in flight.
    private static let partsInFlightMax = 2

    /// The state of an attempt. A repeat begins with a new one.
    private struct Attempt {
        /// The number of commands and ends whose rows are read or being read.
        var readCount = 0
        /// The parts whose reads are in flight, in their order.
        var parts = FIFO<PostgresBatchPart>()
        var written = PostgresBatchChanges()
        var outcomes: [CommandOutcome] = []
        /// The decision on the parts so far.
        var finding = PostgresTransactionMachine.Finding.unchanged
    }

    private let batch: CommandBatch
    private var attempt = Attempt()
    private var apps: [String] = []
    /// The number of known apps when the keys were computed.
    private var appCount = 0
    /// The writes of the last part.
    private var write = PostgresWrite()

    init(_ batch: CommandBatch, _ context: PostgresWriterContext) {
        self.batch = batch
        super.init(context)
    }

    private var count: Int { batch.commands.count + batch.ends.count }

    override var newApps: [String] {
        batch.appsOfNewRows.filter { context.apps.number(of: $0.text) == nil }.sorted().map(\.text)
    }

    override func addReads(to transaction: PostgresTransaction) throws(CryptoError) {
        (attempt, write) = (Attempt(), PostgresWrite())
        (apps, appCount) = (context.apps.all, context.apps.count)
        let first = try nextPart()
        if count > CommandBatch.commandsMax || attempt.readCount < count {
            transaction.execute(.lockStore, PostgresParameters())
        } else {
            let stripes = PostgresLocks.stripes(of: first.touched)
            transaction.execute(.lock, PostgresLocks.parameters(stripes: stripes))
        }
        read(first, in: transaction)
        try readNextParts(in: transaction)
    }

    private func readNextParts(in transaction: PostgresTransaction) throws(CryptoError) {
        while attempt.readCount < count, attempt.parts.count < Self.partsInFlightMax {
            read(try nextPart(), in: transaction)
        }
    }

    /// Returns the next commands and ends with their keys.
    private func nextPart() throws(CryptoError) -> PostgresBatchPart {
        let numbers = attempt.readCount..<min(count, attempt.readCount + context.partCommandsMax)
        attempt.readCount = numbers.upperBound
        var keyed: [KeyedCommand] = []
        keyed.reserveCapacity(numbers.count)
        for number in numbers {
            if number < batch.commands.count {
                keyed.append(try context.index.keyed(batch.commands[number], apps: apps))
            } else {
                keyed.append(.restore(batch.ends[number - batch.commands.count]))
            }
        }
        return PostgresBatchPart(keyed)
    }

    private func read(_ part: PostgresBatchPart, in transaction: PostgresTransaction) {
        attempt.parts.append(part)
        var rows: [StoredRow] = []
        transaction.execute(.lockRows, part.rowParameters) { result throws(PostgresError) in
            rows = try StoredRow.all(in: result)
        }
        transaction.execute(.readMarks, part.markParameters) { result throws(PostgresError) in
            part.marks = try EndMark.all(in: result)
        }
        readApps(in: transaction) { [self] () throws(PostgresError) in
            part.stored = try context.stored(rows)
            if attempt.readCount == count, attempt.parts.count == 1 { found() } else { partRead(in: transaction) }
        }
    }

    /// Decides a part that is not the last one, writes its changes, and reads a next part.
    private func partRead(in transaction: PostgresTransaction) {
        do throws(CryptoError) {
            attempt.finding = try decideNextPart()
            switch attempt.finding {
            case .unchanged, .changed:
                write.addStatements(to: transaction)
                try readNextParts(in: transaction)
            case .outdated, .impossible: found()
            }
        } catch {
            attempt.finding = .impossible(StoreFault(error))
            found()
        }
    }

    override func decide() throws(CryptoError) -> PostgresTransactionMachine.Finding {
        switch attempt.finding {
        case .unchanged, .changed: try decideNextPart()
        case .outdated, .impossible: attempt.finding
        }
    }

    /// Decides the changes of the first part whose rows are read. Returns the decision on the parts so far.
    private func decideNextPart() throws(CryptoError) -> PostgresTransactionMachine.Finding {
        guard newApps.isEmpty, appCount == context.apps.count || !erasesInAllApps else { return .outdated }
        write = PostgresWrite()
        guard let part = attempt.parts.popFirst() else { return attempt.finding }
        attempt.written.replaceOutdatedValues(of: part)
        do throws(MissingDataKey) {
            try context.coder.requireKeys(of: part.stored.values.lazy.map(\.row))
        } catch {
            return .impossible(StoreFault(error))
        }
        let change = batch.rules.apply(
            part.commands, to: part.stored.values.lazy.map(\.registration), marks: part.marks)
        let rows = try write.add(change, replacing: part.stored, context)
        if part.commands.count < count { attempt.written.insert(change, rows) }
        attempt.outcomes.reserveCapacity(count)
        for outcome in change.outcomes {
            var events: [StoredEvent] = []
            for event in outcome.events {
                events.append(
                    try write.add(event, at: batch.rules.now, isHandedOut: true, context.coder))
            }
            attempt.outcomes.append(CommandOutcome(reply: outcome.reply, events: events))
        }
        for event in change.expirations {
            _ = try write.add(event, at: batch.rules.now, isHandedOut: false, context.coder)
        }
        return write.isEmpty ? attempt.finding : .changed
    }

    private var erasesInAllApps: Bool {
        batch.commands.contains { command in
            if case .erase(_, nil, _) = command { true } else { false }
        }
    }

    override func addWrites(to transaction: PostgresTransaction) { write.addStatements(to: transaction) }

    override func completed() { batch.completed(attempt.outcomes) }

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
