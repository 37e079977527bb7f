/// Receives the events of a pool. A base class instead of a protocol, so that an event costs one virtual call.
open class PoolHandler {
    public init() {}

    /// Called on the loop's thread when the state of a connection has changed. Never called from within a method of the
    /// pool.
    open func received(_ event: PoolEvent) {}
}
