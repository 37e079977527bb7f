import EventLoop
import PostgreSQL
import Registrations

/// A connection for a command. Its functions suspend until the server has answered.
final class PostgresCommandSession: PostgresConnectionHandler {
    private let connection: PostgresConnection
    /// The tasks that wait for the outcome of the first round of attempts to connect.
    private let waiters = ContinuationList<PostgresError?>()

    /// Creates a session. Does not connect.
    ///
    /// - Parameters:
    ///   - applicationName: The name of the session in `pg_stat_activity`.
    ///   - statementSecondsMax: The time after which the server cancels a statement; nil for the default.
    /// - Throws: ``StoreFault`` if libpq cannot be loaded or is too old.
    init(
        _ loop: EpollLoop, _ url: PostgresURL, _ password: @escaping PostgresPasswordSource,
        _ statements: [String], applicationName: String, statementSecondsMax: Int? = nil
    ) throws(StoreFault) {
        var configuration = PostgresConfiguration(
            endpoints: url.endpoints, statements: statements.map { PreparedStatement($0) }, password: password)
        configuration.applicationName = applicationName
        if let statementSecondsMax {
            configuration.limits.statementMillisecondsMax = statementSecondsMax * 1000
            configuration.limits.answerMillisecondsMax = configuration.limits.statementMillisecondsMax
        }
        do throws(PostgresError) {
            connection = try PostgresConnection(loop: loop, configuration: configuration)
        } catch {
            throw StoreFault(error)
        }
    }

    /// Connects, and waits until the connection is ready.
    ///
    /// - Throws: ``StoreFault`` if the first round of attempts fails.
    func connect() async throws(StoreFault) {
        connection.start(self)
        let error: PostgresError? =
            switch connection.status {
            case .waiting(let error): error
            case .ready: nil
            case .idle, .connecting, .closing, .closed: await waiters.wait()
            }
        if let error { throw StoreFault(error) }
    }

    func close() async { await connection.close() }

    override func statusChanged(_ status: PostgresStatus) {
        switch status {
        case .ready: waiters.resume(returning: nil)
        case .waiting(let error): waiters.resume(returning: error)
        case .idle, .connecting, .closing, .closed: break
        }
    }

    /// Executes a statement without parameters, and returns the value that `read` returns for the rows.
    func run<Value: Sendable>(
        _ statement: Int, _ read: @escaping (borrowing PostgresRows) throws(PostgresError) -> Value = { _ in () }
    ) async throws(StoreFault) -> Value {
        let result = await withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<Value, PostgresError>, Never>) in
            let receiver = PostgresClosureReceiver({ continuation.resume(returning: $0) }, read: read)
            do throws(PostgresError) {
                try connection.execute(statement, PostgresParameters(), receiver: receiver)
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        do throws(PostgresError) {
            return try result.get()
        } catch {
            throw StoreFault(error)
        }
    }
}
