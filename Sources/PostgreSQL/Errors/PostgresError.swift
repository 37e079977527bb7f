/// An error of a statement, a connection, a URL or libpq.
///
/// Its message never contains the server's message, which may quote values.
public struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A libpq that cannot be loaded, is too old, or is out of memory.
        case unavailable
        /// A URL that cannot be used.
        case invalidURL
        /// An error that the server reported. `state` contains the SQLSTATE.
        case server
        /// A host name that cannot be resolved, a server that cannot be reached, or a connection that is lost or not
        /// ready.
        case unreachable
        /// A late answer of the server or of the name service.
        case timedOut
        /// A failed TLS handshake. The server has no TLS, or its certificate is not trusted or is for another host.
        case tls
        /// A missing password, for which the server asks.
        case passwordMissing
        /// A session that accepts no writes, usually because the server is a standby.
        case readOnly
        /// A statement of a transaction that has failed or ended.
        case transactionFailed
        /// A statement beyond the maximum number of waiting statements.
        case queueFull
        /// A result without the expected columns, types, rows or values.
        case unexpectedResult
        /// A result of libpq that no statement awaits.
        case protocolViolation
        /// A connection that the caller has closed.
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
