/// Receives the events of a connection, or of a user of one of its channels. A base class, so an event costs one
/// virtual call.
///
/// Passed to `start` and released after `closed` was reported. Every method is called on the loop's thread.
open class SessionHandler {
    public init() {}

    /// The status has changed. `closed` is the last one.
    open func statusChanged(_ status: BrokerStatus) {}

    /// For a publisher: the broker refused the user ID of messages. Later messages carry none.
    open func userIDRefused(_ error: AMQPError) {}
}
