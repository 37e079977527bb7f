/// The state of a consumer on its current channel.
enum Subscription {
    /// Not consuming. The error is set if the broker canceled the last consumer. To: starting.
    case stopped(AMQPError?)
    /// `basic.consume` was sent. To: running, canceled, stopped with the channel.
    case starting
    /// To: quiescing, stopping, canceled, stopped with the channel.
    case running
    /// About to cancel: settlements are withheld until no delivery is in transit. To: running, stopping, canceled,
    /// stopped with the channel.
    case quiescing(Quiescence)
    /// `basic.cancel` was sent. To: stopped.
    case stopping
    /// The broker canceled the consumer. It starts again after a delay. To: stopped.
    case canceled(AMQPError)
}
