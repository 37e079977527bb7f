import Crypto
import PostgreSQL
import Registrations

extension StoreFault {
    /// The remedy for a schema that is missing or outdated.
    static let migration = "run: martlet registrations migrate"

    /// Creates the fault for a PostgreSQL error. Its sentence omits the server's message, which could quote values.
    init(_ error: PostgresError) {
        // The message about a missing or old libpq names the remedy.
        guard error.code != .unavailable else {
            self.init(.refused, error.message)
            return
        }
        let (code, remedy) = Self.classification(of: error)
        self.init(
            code, "cannot use the registration store: \(error.message); \(remedy)",
            errorClass: error.state?.classText)
    }

    /// Creates the fault for an error of hashing or encryption.
    init(_ error: CryptoError) {
        switch error.code {
        case .invalidArgument: self.init(.data, "\(error.message); correct the command")
        case .malformed, .unsupported, .failed:
            self.init(.refused, "\(error.message); check the memory of the machine, and restart the worker")
        }
    }

    private static func classification(of error: PostgresError) -> (Code, remedy: String) {
        switch error.code {
        case .invalidURL: return (.refused, "correct registrations.store")
        case .tls: return (.refused, "check sslrootcert and the server's certificate")
        case .passwordMissing: return (.refused, "set registrations.password_file")
        case .server, .unavailable, .unreachable, .timedOut, .readOnly, .transactionFailed, .queueFull,
            .unexpectedResult, .protocolViolation, .closed:
            return classification(of: error.outcome, error.state)
        }
    }

    private static func classification(
        of outcome: SQLState.Outcome, _ state: SQLState?
    ) -> (Code, remedy: String) {
        switch outcome {
        case .unreachable: (.unreachable, "check the server and the network")
        case .refused: (.refused, "correct the user, password_file, or pg_hba.conf of the server")
        case .full: (.refused, remedy(forFull: state))
        case .databaseMissing: (.schema, "create the database, or correct registrations.store")
        case .privilegeMissing: (.schema, "\(migration) --url URL, where URL names the owner of the schema")
        case .schema: (.schema, migration)
        case .sharedSession:
            (.refused, "use session pooling, or PgBouncer 1.21 or later with max_prepared_statements")
        case .data: (.data, "correct the command")
        case .retry, .stalePlan: (.unreachable, "wait for the next attempt")
        case .readOnly: (.unreachable, "name the primary in registrations.store, or promote the standby")
        case .lockTimeout: (.unreachable, "end the session that holds the lock; see pg_locks")
        case .other: (.unreachable, "see the server's log")
        }
    }

    private static func remedy(forFull state: SQLState?) -> String {
        switch state?.description {
        case "53100": "free disk space at the server"
        case "53200": "give the server more memory, or raise max_locks_per_transaction"
        case "53300": "raise max_connections of the server or the connection limit of the role, or run fewer lanes"
        default: "free disk, memory or connections of the server"
        }
    }
}
