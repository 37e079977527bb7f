/// The base class of the receivers of the events of a connection, or of a user of one of its channels. An event costs
/// one virtual call.
///
/// The connection or channel retains its handler from `start` until `closed` was reported. Every method is called on
/// the loop's thread.
open class SessionHandler {
    public init() {}

    /// Handles a change of the status. `closed` is the last status.
    open func statusChanged(_ status: BrokerStatus) {}

    /// Handles the broker's refusal of the user ID of a publisher's messages. Later messages carry no user ID.
    open func userIDRefused(_ error: AMQPError) {}
}
