import EventLoop
import PostgreSQL
import Registrations

/// The statement of an ``EventDeletion``.
final class PostgresDeletion: StatementReceiver {
    private let deletion: EventDeletion
    private let context: PostgresWriterContext
    private var repeats = PostgresRepeats()

    init(_ deletion: EventDeletion, _ context: PostgresWriterContext) {
        (self.deletion, self.context) = (deletion, context)
        super.init()
        context.connection.workBegan()
    }

    func begin() {
        if let fault = context.connection.fault { return fail(fault) }
        var parameters = PostgresParameters()
        // The ids are sorted, so that two sessions do not deadlock.
        parameters.append(array: deletion.ids.sorted())
        do throws(PostgresError) {
            try context.connection.connection.execute(
                PostgresWriterStatement.deleteEvents.rawValue, parameters, receiver: self)
        } catch {
            fail(StoreFault(error))
        }
    }

    override func completed(_ rows: borrowing PostgresRows) {
        context.connection.workEnded()
        deletion.completed()
    }

    override func failed(_ error: PostgresError) {
        if repeats.repeats(after: error) { begin() } else { fail(StoreFault(error)) }
    }

    /// Reports the fault after the call that caused it has returned.
    private func fail(_ fault: StoreFault) {
        context.connection.loop.later { [self] in
            context.connection.workEnded()
            deletion.failed(fault)
        }
    }
}
