public import EventLoop

/// A handler that stores the last connect error of a pool and fails waiting pushes when the pool cannot connect. Use
/// the handler if waiting for a later connect is not acceptable.
public final class ConnectFailure: PoolHandler {
    private weak let pool: APNSPool?
    /// The error of the last ``PoolEvent/cannotConnect`` event; nil before the first such event.
    public private(set) var error: TransportError?

    /// Creates a handler and sets it on the pool. Closing the pool releases the handler.
    public init(of pool: APNSPool) {
        self.pool = pool
        super.init()
        pool.start(self)
    }

    public override func received(_ event: PoolEvent) {
        guard case .cannotConnect(let error, _, _) = event else { return }
        self.error = error
        pool?.failWaiting()
    }
}
