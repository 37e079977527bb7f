/// The base class of the receivers of events. The events come from a connection, or from an object that uses one of its
/// channels. Each event costs one virtual call.
///
/// The connection or channel retains its handler from `start` until the status `closed` was reported. Every method is
/// called on the loop's thread.
open class SessionHandler {
    public init() {}

    /// Handles a change of the status. `closed` is the last status.
    open func statusChanged(_ status: BrokerStatus) {}

    /// Handles the broker's refusal of the user ID of a publisher's messages. Later messages carry no user ID.
    open func userIDRefused(_ error: AMQPError) {}
}
