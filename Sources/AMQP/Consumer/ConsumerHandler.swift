/// Receives the deliveries and events of a consumer. A base class, so a delivery costs one virtual call.
///
/// Passed to `start` and released after `closed` was reported. Every method is called on the loop's thread.
open class ConsumerHandler: SessionHandler {
    /// A message was delivered. It must be acknowledged, rejected or requeued once.
    open func delivered(_ message: consuming IncomingMessage) {}

    /// A channel with deliveries was lost. `holds` is now false for all of them, and the broker redelivers the
    /// unacknowledged ones. Called once for each such channel.
    open func channelLost() {}
}
