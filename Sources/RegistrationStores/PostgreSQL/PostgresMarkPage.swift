import Crypto
import EventLoop
import PostgreSQL
import Registrations

/// The statement of a ``MarkPage``.
final class PostgresMarkPage: StatementReceiver {
    private let page: MarkPage
    private let context: PostgresWriterContext
    private var repeats = PostgresRepeats()

    init(_ page: MarkPage, _ context: PostgresWriterContext) {
        (self.page, self.context) = (page, context)
        super.init()
        context.connection.workBegan()
    }

    func begin() {
        if let fault = context.connection.fault { return fail(fault) }
        var parameters = PostgresParameters()
        parameters.append(page.after ?? Registration.Key.least.token)
        parameters.append(Int64(page.marksMax))
        do throws(PostgresError) {
            try context.connection.connection.execute(
                PostgresWriterStatement.pageOfMarks.rawValue, parameters, receiver: self)
        } catch {
            fail(StoreFault(error))
        }
    }

    override func completed(_ rows: borrowing PostgresRows) {
        do throws(PostgresError) {
            let marks = try EndMark.all(in: rows)
            context.connection.workEnded()
            page.completed(marks)
        } catch {
            fail(StoreFault(error))
        }
    }

    override func failed(_ error: PostgresError) {
        if repeats.repeats(after: error) { begin() } else { fail(StoreFault(error)) }
    }

    /// Reports the fault after the call that caused it has returned.
    private func fail(_ fault: StoreFault) {
        context.connection.loop.later { [self] in
            context.connection.workEnded()
            page.failed(fault)
        }
    }
}
