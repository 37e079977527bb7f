import Crypto
import PostgreSQL
import Registrations

/// The statement of a ``MarkPage``.
final class PostgresMarkPage: PostgresStatementWork<[EndMark]> {
    private let page: MarkPage

    init(_ page: MarkPage, _ context: PostgresWriterContext) {
        self.page = page
        super.init(PostgresWriterStatement.pageOfMarks.rawValue, on: context.connection)
    }

    override var parameters: PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(page.after ?? Registration.Key.least.token)
        parameters.append(Int64(page.marksMax))
        return parameters
    }

    override func read(_ rows: borrowing PostgresRows) throws(PostgresError) -> [EndMark] { try EndMark.all(in: rows) }

    override func completed(with marks: [EndMark]) { page.completed(marks) }

    override func failed(_ fault: StoreFault) { page.failed(fault) }
}
