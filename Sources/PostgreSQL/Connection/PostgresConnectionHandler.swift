/// Receives the status of a connection. A base class, so that an event costs one virtual call.
open class PostgresConnectionHandler {
    public init() {}

    /// The status has changed, on the loop's thread. `closed` is the last one; then the handler is released.
    open func statusChanged(_ status: PostgresStatus) {}
}

/// The state of a connection, for its owner.
public enum PostgresStatus: Sendable, Hashable {
    /// Not started.
    case idle
    case connecting
    /// Accepts statements.
    case ready(PostgresHost)
    /// No host accepted a connection, or it was lost. The next attempt follows.
    case waiting(PostgresError)
    /// Closes after the last statement.
    case closing
    case closed
}
