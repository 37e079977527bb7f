import Crypto
import EventLoop
import PostgreSQL
import Registrations

/// The statements of a ``RegistrationPage``. Each one is its own transaction and reads a bounded number of rows. This
/// bound keeps a page from delaying other work of the writer. A page of an app with few rows therefore covers only a
/// part of the table, and may be empty.
final class PostgresPage {
    /// Maximum number of rows that a statement reads while it searches for rows of an app.
    static let scanRowsMax = 10_000

    private let page: RegistrationPage
    private let context: PostgresWriterContext
    private var repeats = PostgresRepeats()

    init(_ page: RegistrationPage, _ context: PostgresWriterContext) {
        (self.page, self.context) = (page, context)
        context.connection.workBegan()
    }

    func begin() {
        if let fault = context.connection.fault { return fail(fault) }
        readApps { [self] in read() }
    }

    private func readApps(then next: @escaping () -> Void) {
        var parameters = PostgresParameters()
        parameters.append(Int16(clamping: context.apps.lastContiguousNumber))
        execute(.newApps, parameters) { [context] rows throws(PostgresError) in
            try context.insertApps(rows)
        } then: { _ in
            next()
        }
    }

    private func read() {
        switch page.filter {
        case .all: read(.pageOfAll, range, end: nil)
        case .user(let user, let app): read(ofUser: user, app)
        case .app(let app):
            guard let number = context.apps.number(of: app) else { return complete([], last: nil) }
            read(ofApp: number)
        }
    }

    /// The parameters of each statement for rows: the key before the page, and the maximum number of rows.
    private var range: PostgresParameters { .page(after: page.after, Int64(page.rowsMax)) }

    private func read(ofUser user: String, _ app: String?) {
        var keys: [UUIDValue] = []
        do throws(CryptoError) {
            for app in app.map({ [$0] }) ?? context.apps.all {
                keys.append(try context.index.userKey(app: app, user: user))
            }
        } catch {
            return fail(StoreFault(error))
        }
        var parameters = range
        parameters.append(array: keys.sorted())
        read(.pageOfUser, parameters, end: nil)
    }

    private func read(ofApp number: Int) {
        execute(.pageEnd, .page(after: page.after, Int64(Self.scanRowsMax - 1))) { rows throws(PostgresError) in
            rows.count == 0 ? nil : try Registration.Key(rows, row: 0, column: 0)
        } then: { [self] (end: Registration.Key?) in
            var parameters = range
            parameters.append(end ?? .greatest)
            parameters.append(Int16(clamping: number))
            read(.pageOfApp, parameters, end: end)
        }
    }

    /// Reads the rows of the page, and completes the page.
    ///
    /// - Parameter end: The last key of the range that the statement searches; nil if the range includes all later
    ///   keys.
    private func read(_ statement: PostgresWriterStatement, _ parameters: PostgresParameters, end: Registration.Key?) {
        execute(statement, parameters) { rows throws(PostgresError) in
            try StoredRow.all(in: rows)
        } then: { [self] (rows: [StoredRow]) in
            // Another session may have numbered the app of a row since the last `readApps`.
            readApps { [self] in complete(rows, end: end) }
        }
    }

    private func complete(_ rows: [StoredRow], end: Registration.Key?) {
        var registrations: [Registration] = []
        do throws(PostgresError) {
            for row in rows {
                if let registration = try context.registration(of: row) { registrations.append(registration) }
            }
        } catch {
            return fail(StoreFault(error))
        }
        complete(registrations, last: rows.count == page.rowsMax ? rows.last?.key : end)
    }

    private func complete(_ registrations: [Registration], last: Registration.Key?) {
        context.connection.workEnded()
        page.completed(registrations, last: last)
    }

    private func execute<Value>(
        _ statement: PostgresWriterStatement, _ parameters: PostgresParameters,
        _ read: @escaping (borrowing PostgresRows) throws(PostgresError) -> Value,
        then next: @escaping (Value) -> Void
    ) {
        let receiver = PostgresClosureReceiver(
            { [self] result in
                switch result {
                case .success(let value): next(value)
                case .failure(let error) where repeats.repeats(after: error):
                    execute(statement, parameters, read, then: next)
                case .failure(let error): fail(StoreFault(error))
                }
            }, read: read)
        do throws(PostgresError) {
            try context.connection.connection.execute(statement.rawValue, parameters, receiver: receiver)
        } catch {
            fail(StoreFault(error))
        }
    }

    /// Reports the fault after the call that caused it has returned.
    private func fail(_ fault: StoreFault) {
        context.connection.loop.later { [self] in
            context.connection.workEnded()
            page.failed(fault)
        }
    }
}
