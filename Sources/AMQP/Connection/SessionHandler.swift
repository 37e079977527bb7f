/// Receives the events of a connection, or of one that uses a channel of it. A base class, so that an event costs one
/// virtual call.
///
/// Passed to `start` and released once `closed` was reported. Every method is called on the loop's thread.
open class SessionHandler {
    public init() {}

    /// The status has changed. `closed` is the last one.
    open func statusChanged(_ status: BrokerStatus) {}

    /// Of a publisher: the broker refused the user ID that messages carry. From now on they go without it.
    open func userIDRefused(_ error: AMQPError) {}
}
