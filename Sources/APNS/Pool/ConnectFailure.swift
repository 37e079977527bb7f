public import EventLoop

/// Keeps the last error of a pool that cannot connect, and ends the pushes that wait for a connection: for owners that do
/// not wait for a later attempt to connect.
public final class ConnectFailure: PoolHandler {
    private weak let pool: APNSPool?
    /// nil while the pool connects for the first time.
    public private(set) var error: TransportError?

    /// Receives the events of the pool until it is closed.
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
