import Crypto
import PostgreSQL
import Registrations

/// The statement of an ``EventDeletion``.
final class PostgresDeletion: PostgresStatementWork<Void> {
    private let deletion: EventDeletion

    init(_ deletion: EventDeletion, _ context: PostgresWriterContext) {
        self.deletion = deletion
        super.init(PostgresWriterStatement.deleteEvents.rawValue, on: context.connection)
    }

    override var parameters: PostgresParameters {
        var parameters = PostgresParameters()
        // The ids are sorted, so that two sessions do not deadlock.
        parameters.append(array: deletion.ids.sorted())
        return parameters
    }

    override func read(_ rows: borrowing PostgresRows) {}

    override func completed(with value: Void) { deletion.completed() }

    override func failed(_ fault: StoreFault) { deletion.failed(fault) }
}
