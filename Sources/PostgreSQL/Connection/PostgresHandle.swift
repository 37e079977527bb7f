import CPostgreSQL
import EventLoop
import Glibc

/// A `PGconn`. Its calls do not wait for the network, because libpq resolves no names here, and the socket is
/// non-blocking.
///
/// The owner must call `finish()` before it releases the handle.
final class PostgresHandle {
    enum Poll {
        case waits(PostgresConnectionMachine.Interest)
        case connected
        case failed(PostgresError)
    }

    enum Result: ~Copyable {
        case rows(PostgresRows)
        case row(PostgresRows)
        case failed(PostgresError)
        case end
        case sync
        /// A connection that ended, or on which libpq returned an unexpected status.
        case broken
    }

    private var connection: OpaquePointer?

    deinit {
        precondition(connection == nil, "a connection of libpq was released without finish()")
    }

    /// Starts to connect. Returns nil if memory is exhausted.
    init?(_ target: ConnectionTarget, _ configuration: PostgresConfiguration) {
        let parameters = Self.parameters(target, configuration)
        let keywords = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for pointer in keywords + values { free(pointer) } }
        connection = martlet_pq_connect_start(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
        if connection == nil { return nil }
    }

    private static func parameters(
        _ target: ConnectionTarget, _ configuration: PostgresConfiguration
    ) -> [(String, String)] {
        let endpoints = configuration.endpoints
        var parameters = [
            ("user", endpoints.user), ("dbname", endpoints.database), ("client_encoding", "UTF8"),
            ("application_name", configuration.applicationName), ("gssencmode", "disable"),
            ("target_session_attrs", "any"),
            // No file has this name, so libpq does not read a password from `~/.pgpass`.
            ("passfile", "/dev/null/none"),
        ]
        switch target.host {
        case .tcp(let endpoint):
            // libpq checks the certificate for `host`. It connects to `hostaddr`, so it resolves no name.
            parameters += [("host", endpoint.host), ("port", "\(endpoint.port)")]
            parameters += target.address.map { [("hostaddr", $0)] } ?? []
        case .socket(let directory, let port):
            parameters += [("host", directory), ("port", "\(port)")]
        }
        switch endpoints.security {
        case .none: parameters.append(("sslmode", "disable"))
        case .verifyFull(let root): parameters += [("sslmode", "verify-full"), ("sslrootcert", root)]
        }
        if let password = configuration.password() { parameters.append(("password", password.text)) }
        return parameters
    }

    func finish() {
        if let connection { martlet_pq_finish(connection) }
        connection = nil
    }

    /// The descriptor of the socket; -1 if there is no socket.
    var descriptor: Int32 { martlet_pq_socket(connection) }

    var serverVersion: Int { Int(martlet_pq_server_version(connection)) }

    /// The error of starting to connect; nil if libpq waits for a writable socket.
    var startFailure: PostgresError? {
        let phase = martlet_pq_status(connection)
        return phase == CONNECTION_BAD ? connectFailure(in: phase) : nil
    }

    /// Continues to connect. Call it once the socket is ready.
    func poll() -> Poll {
        let phase = martlet_pq_status(connection)
        switch martlet_pq_connect_poll(connection) {
        case PGRES_POLLING_READING: return .waits(.readable)
        case PGRES_POLLING_WRITING: return .waits(.writable)
        case PGRES_POLLING_OK:
            guard martlet_pq_enter_pipeline(connection) == 1 else { return .failed(Self.lost) }
            return .connected
        default: return .failed(connectFailure(in: phase))
        }
    }

    /// Returns the reason why connecting failed. libpq reports the SQLSTATE of such an error only at the end of its
    /// message. `PQERRORS_SQLSTATE` excludes the server's text from the message.
    private func connectFailure(in phase: ConnStatusType) -> PostgresError {
        if let state = Self.state(inMessage: String(cString: martlet_pq_error_message(connection)).utf8) {
            return PostgresError(state)
        }
        if martlet_pq_needs_password(connection) != 0 {
            return PostgresError(.passwordMissing, "the server asks for a password, and none is configured")
        }
        guard phase == CONNECTION_SSL_STARTUP else {
            return PostgresError(.unreachable, "the server cannot be reached, or closed the connection")
        }
        return PostgresError(
            .tls,
            "the TLS handshake failed: the server has no TLS, or its certificate is not trusted or is for "
                + "another host")
    }

    /// Returns the SQLSTATE at the end of a message such as `…FATAL:  28P01`, with or without a line feed; nil if there
    /// is none.
    static func state(inMessage message: some BidirectionalCollection<UInt8>) -> SQLState? {
        let text = message.last == UInt8(ascii: "\n") ? message.dropLast() : message.dropLast(0)
        guard text.dropLast(5).suffix(3).elementsEqual(":  ".utf8) else { return nil }
        return SQLState(text.suffix(5))
    }

    static let lost = PostgresError(.unreachable, "the connection was lost")

    // These functions return false if libpq refuses the call, usually because the connection is lost.

    func send(_ sql: String, _ parameters: PostgresParameters = PostgresParameters()) -> Bool {
        parameters.withPointers {
            martlet_pq_send_query(connection, sql, Int32(parameters.count), $0, $1, $2)
        } == 1
    }

    func sendPrepare(_ name: String, _ statement: PreparedStatement) -> Bool {
        let types = statement.parameters.map(\.rawValue)
        return martlet_pq_send_prepare(connection, name, statement.sql, Int32(types.count), types) == 1
    }

    func sendPrepared(_ name: String, _ parameters: PostgresParameters) -> Bool {
        parameters.withPointers {
            martlet_pq_send_prepared(connection, name, Int32(parameters.count), $0, $1, $2)
        } == 1
    }

    func sendSync() -> Bool { martlet_pq_send_sync(connection) == 1 }

    /// Makes libpq deliver the result of the first statement in flight row by row. Call it before libpq reads the
    /// response to that statement.
    func deliverRowByRow() -> Bool { martlet_pq_set_single_row_mode(connection) == 1 }

    func readInput() -> Bool { martlet_pq_consume_input(connection) == 1 }

    /// Whether OpenSSL holds decrypted bytes that libpq has not read. These bytes do not make the socket readable.
    var hasPendingInput: Bool { martlet_pq_has_pending_bytes(connection) != 0 }

    /// Sends queued bytes. Returns 0 if none remain, 1 if some remain, or -1 if the connection is lost.
    func flush() -> Int32 { martlet_pq_flush(connection) }

    /// Whether the next result is incomplete.
    var isBusy: Bool { martlet_pq_is_busy(connection) != 0 }

    /// Returns the next result. Call it only if libpq is not busy.
    func nextResult() -> Result {
        guard let result = martlet_pq_get_result(connection) else { return .end }
        let rows = PostgresRows(owning: result)
        switch martlet_pq_result_status(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: return .rows(rows)
        case PGRES_SINGLE_TUPLE: return .row(rows)
        case PGRES_PIPELINE_SYNC: return .sync
        case PGRES_FATAL_ERROR:
            // libpq's own errors have no SQLSTATE. They mean that the connection was lost.
            guard let state = Self.field(UInt8(ascii: "C"), of: result).flatMap({ SQLState($0) }) else {
                return .broken
            }
            return .failed(PostgresError(state, constraint: Self.field(UInt8(ascii: "n"), of: result)))
        default: return .broken
        }
    }

    /// Returns a field of an error.
    ///
    /// - Parameter code: `PG_DIAG_SQLSTATE` or `PG_DIAG_CONSTRAINT_NAME`.
    private static func field(_ code: UInt8, of result: OpaquePointer) -> String? {
        martlet_pq_error_field(result, Int32(code)).map { String(cString: $0) }
    }
}
