import EventLoop

/// The connections that new connections can replace, and the number of open requests.
struct Admission {
    /// Connections without a valid certificate on which no request that passed authentication was answered.
    fileprivate(set) var unauthenticated = ConnectionNumbers()
    /// Connections whose TLS and HTTP/2 handshakes are incomplete.
    fileprivate(set) var halfOpen = ConnectionNumbers()
    fileprivate(set) var requestsOpen = 0
    fileprivate var isOpeningTimerSet = false

    mutating func remove(_ number: Int) {
        unauthenticated.remove(number)
        halfOpen.remove(number)
    }
}

extension SimulatorServer {
    /// Closes the oldest unauthenticated connection if the simulator is at its limit. Returns whether the simulator
    /// has room for another connection.
    func makeRoom() -> Bool {
        if connections.count < configuration.connectionsMax { return true }
        guard let oldest = admission.unauthenticated.oldest else { return false }
        evict(oldest)
        return true
    }

    func admit(_ connection: SimulatorConnection) {
        admission.unauthenticated.insert(connection.number)
        admission.halfOpen.insert(connection.number)
        if admission.halfOpen.count > configuration.halfOpenMax, let oldest = admission.halfOpen.oldest {
            evict(oldest)
        }
        setOpeningTimer()
    }

    private func evict(_ number: Int) {
        connections[number]?.abort(as: .sentAway)
        connections[number] = nil
        admission.remove(number)
    }

    private func setOpeningTimer() {
        guard !admission.isOpeningTimerSet, let oldest = admission.halfOpen.oldest.flatMap({ connections[$0] }) else {
            return
        }
        admission.isOpeningTimerSet = true
        loop.schedule(at: oldest.acceptedAt + .seconds(configuration.openingSecondsMax)) { [timerTarget] in
            guard let server = timerTarget.object else { return }
            server.admission.isOpeningTimerSet = false
            server.evictLate()
            server.setOpeningTimer()
        }
    }

    /// Closes connections whose handshakes exceed the timeout.
    private func evictLate() {
        let last = loop.now.monotonic - .seconds(configuration.openingSecondsMax)
        while let number = admission.halfOpen.oldest, let connection = connections[number],
            connection.acceptedAt <= last
        {
            evict(number)
        }
    }

    /// Records that the handshakes of a connection are complete.
    func opened(_ connection: SimulatorConnection) { admission.halfOpen.remove(connection.number) }

    /// Records that a connection is authenticated.
    func authenticated(_ connection: SimulatorConnection) { admission.unauthenticated.remove(connection.number) }

    /// Whether the number of open requests is below its limit.
    var acceptsRequests: Bool { admission.requestsOpen < configuration.requestsOpenMax }

    func requestOpened() { admission.requestsOpen += 1 }

    func requestClosed() { admission.requestsOpen -= 1 }
}
