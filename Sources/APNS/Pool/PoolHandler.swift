/// Receives the events of a pool. A base class, so that each event costs one virtual call.
open class PoolHandler {
    public init() {}

    /// Called on the loop when the state of a connection has changed; never from inside a call of the pool's methods.
    open func received(_ event: PoolEvent) {}
}
