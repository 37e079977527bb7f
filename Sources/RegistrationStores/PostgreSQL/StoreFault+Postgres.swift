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
        case .passwordMissing: return (.refused, "configure the password of the store")
        case .server, .unavailable, .unreachable, .timedOut, .readOnly, .transactionFailed, .queueFull,
            .unexpectedResult, .protocolViolation, .closed:
            return classification(of: error.outcome)
        }
    }

    private static func classification(of outcome: SQLState.Outcome) -> (Code, remedy: String) {
        switch outcome {
        case .unreachable: (.unreachable, "check the server and the network")
        case .refused: (.refused, "correct the login in the configuration or at the server")
        case .full:
            (
                .refused,
                "free disk, memory or connections of the server; for 53200, also raise max_locks_per_transaction"
            )
        case .schema: (.schema, migration)
        case .data: (.data, "correct the command")
        case .retry, .stalePlan: (.unreachable, "wait for the next attempt")
        case .readOnly: (.unreachable, "name the primary in registrations.store, or promote the standby")
        case .lockTimeout: (.unreachable, "end the session that holds the lock; see pg_locks")
        case .other: (.unreachable, "see the server's log")
        }
    }
}
