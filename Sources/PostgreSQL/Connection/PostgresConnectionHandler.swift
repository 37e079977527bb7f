/// Receives the status of a connection. A base class, so that an event costs one virtual call.
open class PostgresConnectionHandler {
    public init() {}

    /// The status has changed, on the loop's thread. `closed` is the last one; then the handler is released.
    open func statusChanged(_ status: PostgresStatus) {}
}
