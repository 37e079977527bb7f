/// A receiver of the status of a connection. The type is a base class, so that an event costs one virtual call.
open class PostgresConnectionHandler {
    public init() {}

    /// Handles a change of the status. Called on the loop's thread after the status has changed. After `closed`, the
    /// last status, the connection releases the handler.
    open func statusChanged(_ status: PostgresStatus) {}
}
