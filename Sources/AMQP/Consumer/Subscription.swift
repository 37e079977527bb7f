/// The state of a consumer on its current channel. Each case lists its possible next states after "To:". In addition,
/// the loss of the channel leads to `stopped` from every state.
enum Subscription {
    /// A stopped consumer. The error is set if the broker canceled the previous consumer. To: starting, canceled.
    case stopped(AMQPError?)
    /// The wait for the answer to `basic.consume`. To: running, canceled.
    case starting
    /// A running consumer. To: quiescing, canceled.
    case running
    /// The wait before the cancellation. Settlements are withheld until no delivery is in transit. To: running,
    /// stopping, canceled.
    case quiescing(Quiescence)
    /// The wait for the answer to `basic.cancel`. To: stopped.
    case stopping
    /// A consumer that the broker canceled. The next consumer starts after a delay. To: stopped.
    case canceled(AMQPError)
}
