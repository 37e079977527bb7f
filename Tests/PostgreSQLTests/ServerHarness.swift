import Crypto
import EventLoop
import PostgreSQL
import TestKit
import Testing

/// A trait that starts a private server for a suite, and ends the server after the suite.
struct PostgresServerTrait: SuiteTrait, TestScoping {
    @TaskLocal static var server: PrivatePostgres?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await PrivatePostgres.with { server in
            try await Self.$server.withValue(server) { try await function() }
        }
    }
}

extension Trait where Self == PostgresServerTrait {
    static var postgres: Self { Self() }
}

/// Calls `body` on a loop with a started connection, and then closes the connection.
///
/// - Parameter url: nil for the suite's server over TCP.
func withConnection<Value: Sendable>(
    _ statements: [PreparedStatement] = [], url: String? = nil,
    _ configure: @Sendable @escaping (inout PostgresConfiguration) -> Void = { _ in },
    _ body: @Sendable @escaping (PostgresConnection) async throws -> Value
) async throws -> Value {
    let url = try url ?? #require(PostgresServerTrait.server).url
    return try await onEpollLoop { loop in
        let connection = try startConnection(statements, url: url, loop: loop, configure)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(connection))
        } catch {
            result = .failure(error)
        }
        await connection.close(deadlineSeconds: 1)
        return try result.get()
    }
}

func startConnection(
    _ statements: [PreparedStatement], url: String, loop: EpollLoop,
    _ configure: (inout PostgresConfiguration) -> Void = { _ in }
) throws -> PostgresConnection {
    var configuration = PostgresConfiguration(
        endpoints: try PostgresURL(url).endpoints, statements: statements,
        password: { PostgresPassword(PrivatePostgres.password) })
    // A sanitizer or other work can slow the server and the client. Tests of a time limit set it.
    configuration.limits.statementMillisecondsMax = 600_000
    configuration.limits.lockMillisecondsMax = 600_000
    configuration.limits.answerMillisecondsMax = 600_000
    configure(&configuration)
    let connection = try PostgresConnection(loop: loop, configuration: configuration)
    connection.start()
    return connection
}

/// Returns the error of the first failed round of attempts to connect.
func connectFailure(
    _ statements: [PreparedStatement] = [], url: String,
    _ configure: @Sendable @escaping (inout PostgresConfiguration) -> Void = { _ in }
) async throws -> PostgresError {
    try await withConnection(statements, url: url, configure) { connection in try await connection.nextFailure() }
}

extension PrivatePostgres {
    /// The URL of the server over TCP.
    nonisolated var url: String { "postgresql://\(Self.user)@127.0.0.1:\(port)/\(Self.database)" }
}

extension PostgresConnection {
    /// The error of the failed round, or of the lost connection; nil unless the connection waits for the next round.
    var failure: PostgresError? {
        if case .waiting(let error) = status { error } else { nil }
    }

    var isReady: Bool {
        if case .ready = status { true } else { false }
    }

    /// Waits until a round of attempts fails or the connection is lost, and returns the error. Does not wait if the
    /// connection already waits for the next round.
    func nextFailure() async throws -> PostgresError {
        try await loop.wait { failure != nil }
        return try #require(failure)
    }

    func waitUntilReady() async throws { try await loop.wait { isReady } }

    /// Executes a statement and returns what `read` returns for its rows.
    func run<Value: Sendable>(
        _ statement: Int, _ parameters: PostgresParameters = PostgresParameters(), in transaction: Transaction? = nil,
        _ read: @escaping (borrowing PostgresRows) throws(PostgresError) -> Value = { _ in () }
    ) async throws -> Value {
        try await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Value, PostgresError>, Never>) in
            do throws(PostgresError) {
                let receiver = ReadingReceiver(read) { continuation.resume(returning: $0) }
                try execute(statement, parameters, in: transaction, receiver: receiver)
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }.get()
    }

    /// Executes a statement without waiting for its outcome.
    func send(
        _ statement: Int, _ parameters: PostgresParameters = PostgresParameters(), in transaction: Transaction? = nil
    ) -> PendingStatement {
        let pending = PendingStatement()
        do throws(PostgresError) {
            try execute(statement, parameters, in: transaction, receiver: pending)
        } catch {
            pending.failed(error)
        }
        return pending
    }

    /// Waits for the outcome of a statement and returns its error; nil if it succeeded.
    func error(of pending: PendingStatement) async throws -> PostgresError? {
        try await loop.wait { pending.isComplete }
        return pending.error
    }

    /// Executes a statement and returns its error; nil if it succeeds.
    func error(
        of statement: Int, _ parameters: PostgresParameters = PostgresParameters(), in transaction: Transaction? = nil
    ) async -> PostgresError? {
        do {
            try await run(statement, parameters, in: transaction)
            return nil
        } catch {
            return error as? PostgresError
        }
    }

    func commit(_ transaction: Transaction) async throws {
        try await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Void, PostgresError>, Never>) in
            do throws(PostgresError) {
                let receiver = ReadingReceiver({ _ in () }) { continuation.resume(returning: $0) }
                try commit(transaction, receiver: receiver)
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }.get()
    }
}

/// A statement whose outcome may not be known yet.
final class PendingStatement: StatementReceiver {
    private(set) var isComplete = false
    private(set) var error: PostgresError?

    override func completed(_ rows: borrowing PostgresRows) { isComplete = true }

    override func failed(_ error: PostgresError) {
        isComplete = true
        self.error = error
    }
}

/// A receiver that reads the rows of a statement, and passes the outcome to a closure.
final class ReadingReceiver<Value>: StatementReceiver {
    private let read: (borrowing PostgresRows) throws(PostgresError) -> Value
    private let report: (Result<Value, PostgresError>) -> Void

    init(
        _ read: @escaping (borrowing PostgresRows) throws(PostgresError) -> Value,
        _ report: @escaping (Result<Value, PostgresError>) -> Void
    ) {
        self.read = read
        self.report = report
    }

    override func completed(_ rows: borrowing PostgresRows) {
        do throws(PostgresError) {
            report(.success(try read(rows)))
        } catch {
            report(.failure(error))
        }
    }

    override func failed(_ error: PostgresError) { report(.failure(error)) }
}
