/// The base class of the receivers of a consumer's deliveries and events. Each delivery costs one virtual call.
///
/// The consumer retains its handler from `start` until the status `closed` was reported. Every method is called on the
/// loop's thread.
open class ConsumerHandler: SessionHandler {
    /// Handles a delivery, which must be acknowledged, rejected or requeued exactly once.
    open func delivered(_ message: consuming IncomingMessage) {}

    /// Handles the loss of a channel with deliveries. `Consumer.holds` is now false for all these deliveries, and the
    /// broker redelivers the unacknowledged messages. The consumer calls this method once for each such channel.
    open func channelLost() {}
}
