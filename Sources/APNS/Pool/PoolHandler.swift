/// A receiver of a pool's events. The type is a base class instead of a protocol, so that an event costs one virtual
/// call.
open class PoolHandler {
    public init() {}

    /// Receives an event. Called on the loop's thread when the state of a connection has changed, or as the answer to
    /// ``APNSPool/probe()``. Never called from within a public method of the pool.
    open func received(_ event: PoolEvent) {}
}
