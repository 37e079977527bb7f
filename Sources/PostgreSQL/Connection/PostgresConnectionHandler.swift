/// Receives the status of a connection. A base class, so that an event costs one virtual call.
open class PostgresConnectionHandler {
    public init() {}

    /// Called on the loop's thread after the status has changed. After `closed`, the last status, the connection
    /// releases the handler.
    open func statusChanged(_ status: PostgresStatus) {}
}
