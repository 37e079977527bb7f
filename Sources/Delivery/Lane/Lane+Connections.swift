import APNS
import EventLoop

extension Lane {
    /// To be called when a connection to APNs stands, is lost, or could not be opened, and when a breaker opened or closed.
    ///
    /// Where no route in use that is not held up has one, what is taken could only wait for it, and would have to be
    /// published again if this is an outage: no message is taken until one stands, and the pools connect without.
    func reviewConnections() {
        let now = loop.now.monotonic
        let routes = routeUse.inUse(at: cutOffSince ?? now).filter { !breakers.isHeld($0) }
        guard !routes.isEmpty, routes.allSatisfy({ !isConnected(toEndpointOf: $0.pool) }) else { return endCutOff() }
        if cutOffSince == nil {
            // A connection that has ended for want of use is not missed.
            guard inFlight > 0 else { return }
            cutOffSince = now
            state.isCutOff = true
            wantsChanged()
        }
        for route in routes { pools[route.pool].probe() }
    }

    private func endCutOff() {
        guard cutOffSince != nil else { return }
        cutOffSince = nil
        state.isCutOff = false
        wantsChanged()
        stopProbing(pools.indices)
    }

    func stopProbing(_ indices: some Sequence<Int>) {
        for index in indices where !breakers.awaitsConnection(index) { pools[index].stopProbing() }
    }

    /// Whether any key has a connection: that shows that the endpoint is there.
    func isConnected(toEndpointOf index: Int) -> Bool {
        poolsAffected(by: endpoint(ofPool: index)).contains { pools[$0].isConnected }
    }

    private func endpoint(ofPool index: Int) -> Breakers.Place { .endpoint(breakers.endpoint(ofPool: index)) }
}
