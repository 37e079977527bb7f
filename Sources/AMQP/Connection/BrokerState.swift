public import EventLoop

/// How a connection to the broker stands, or one of its channels.
public enum BrokerState: Sendable, Hashable {
    /// `start` has not been called.
    case idle
    /// A connection logs in; a channel is being opened and set up.
    case connecting(Endpoint)
    /// Connected and set up.
    case ready
    /// Connected, but the broker takes no publishes for now (a memory or disk alarm): its reason.
    case blocked(reason: String)
    /// Something of its own failed: what, and after how long it is tried again.
    case waiting(AMQPError, delay: Duration)
    /// Of a channel: its connection is not there. The connection's state says why.
    case disconnected
    case closed
}
