/// An error of a statement, a connection, a URL or libpq.
///
/// Its message never contains the server's message, which may quote values.
public struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// libpq cannot be loaded, is too old, or is out of memory.
        case unavailable
        /// The URL cannot be used.
        case invalidURL
        /// The server reported an error: see `state`.
        case server
        /// The host's name cannot be resolved, the server cannot be reached, or the connection is lost or not ready.
        case unreachable
        /// The server or the name service did not answer in time.
        case timedOut
        /// The TLS handshake failed: the server has no TLS, or its certificate is not trusted or is for another host.
        case tls
        /// The server asks for a password, and none is configured.
        case passwordMissing
        /// The session accepts no writes, usually because the server is a standby.
        case readOnly
        /// An earlier statement of the transaction failed, or the transaction has ended.
        case transactionFailed
        /// The maximum number of waiting statements is reached.
        case queueFull
        /// A result does not have the expected columns, types, rows or values.
        case unexpectedResult
        /// libpq reported a result that no statement awaits.
        case protocolViolation
        /// The caller has closed the connection.
        case closed
    }

    public let code: Code
    /// The SQLSTATE of the server's error; nil for all codes but `server`.
    public let state: SQLState?
    /// The name of the violated constraint, if the server reported one.
    public let constraint: String?
    /// A text for operators. It contains no value of a statement.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.init(code: code, state: nil, constraint: nil, message: message)
    }

    /// Creates an error that the server reported, with the fixed text of its outcome.
    public init(_ state: SQLState, constraint: String? = nil) {
        let subject = constraint.map { " (constraint \($0))" } ?? ""
        self.init(
            code: .server, state: state, constraint: constraint,
            message: "\(state.meaning): SQLSTATE \(state)\(subject)")
    }

    private init(code: Code, state: SQLState?, constraint: String?, message: String) {
        self.code = code
        self.state = state
        self.constraint = constraint
        self.message = message
    }

    /// The meaning of the error for the caller.
    public var outcome: SQLState.Outcome {
        switch code {
        case .server: state?.outcome ?? .other
        case .unreachable, .timedOut, .queueFull, .closed, .protocolViolation: .unreachable
        case .tls, .passwordMissing: .refused
        case .readOnly: .readOnly
        case .unexpectedResult: .schema
        case .unavailable, .invalidURL, .transactionFailed: .other
        }
    }

    /// Whether a later attempt can succeed without an operator.
    public var isRetriable: Bool {
        switch outcome {
        case .unreachable, .full, .retry, .readOnly, .lockTimeout, .stalePlan: true
        case .refused, .databaseMissing, .privilegeMissing, .schema, .sharedSession, .data, .other: false
        }
    }

    /// Returns the error with the host in front of its message.
    func at(_ host: PostgresHost) -> PostgresError {
        PostgresError(code: code, state: state, constraint: constraint, message: "\(host): \(message)")
    }

    public var description: String { message }
}

extension SQLState {
    /// The fixed text of the outcome.
    fileprivate var meaning: String {
        switch outcome {
        case .unreachable: "server not available, or statement canceled"
        case .refused: "login refused"
        case .databaseMissing: "database missing"
        case .privilegeMissing: "privilege missing"
        case .schema: "schema, table or column missing"
        case .sharedSession: "prepared statement unknown to the session"
        case .full: "disk, memory or connections of the server exhausted"
        case .data: "values refused"
        case .retry: "transaction conflicted with another transaction"
        case .readOnly: "server accepts no writes"
        case .lockTimeout: "lock held by another transaction"
        case .stalePlan: "prepared statement outdated"
        case .other: "statement failed"
        }
    }
}
