/// What a consumer has asked of its queue on the channel of now.
enum Subscription {
    /// Nothing is consumed. The error is why the broker ended the last consumer, if it did. To: starting.
    case stopped(AMQPError?)
    /// `basic.consume` was sent. To: running, canceled, stopped with the channel.
    case starting
    /// To: quiescing, stopping, canceled, stopped with the channel.
    case running
    /// No more deliveries are wanted: settlements are withheld until nothing is in transit. To: running, stopping,
    /// canceled, stopped with the channel.
    case quiescing(Quiescence)
    /// `basic.cancel` was sent. To: stopped.
    case stopping
    /// The broker ended it; it is started again after a delay. To: stopped.
    case canceled(AMQPError)
}
