/// Receives the deliveries and events of a consumer. A base class, so that a delivery costs one virtual call.
///
/// Passed to `start` and released once `closed` was reported. Every method is called on the loop's thread.
open class ConsumerHandler: SessionHandler {
    /// A message was delivered. It must be acknowledged, rejected or requeued once.
    open func delivered(_ message: consuming IncomingMessage) {}

    /// A channel is lost on which something was delivered. `holds` is false now for all of it, and the broker delivers again
    /// what was not settled. Called once for each such channel.
    open func channelLost() {}
}
