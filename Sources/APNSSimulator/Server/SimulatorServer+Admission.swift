import EventLoop

/// Which connections have to make room for others, and how many requests are open.
struct Admission {
    /// Connections whose clients have shown neither a good certificate nor a good provider token.
    fileprivate(set) var unproven = ConnectionNumbers()
    /// Those that are not open yet as TLS and HTTP/2 want it.
    fileprivate(set) var halfOpen = ConnectionNumbers()
    fileprivate(set) var requestsOpen = 0
    fileprivate var isOpeningTimerSet = false

    mutating func forget(_ number: Int) {
        unproven.remove(number)
        halfOpen.remove(number)
    }
}

extension SimulatorServer {
    /// Sends a connection away if need be that has shown nothing; whether one more can be served.
    func makeRoom() -> Bool {
        if connections.count < configuration.connectionsMax { return true }
        guard let oldest = admission.unproven.oldest else { return false }
        sendAway(oldest)
        return true
    }

    func admit(_ connection: SimulatorConnection) {
        admission.unproven.insert(connection.number)
        admission.halfOpen.insert(connection.number)
        if admission.halfOpen.count > configuration.halfOpenMax, let oldest = admission.halfOpen.oldest {
            sendAway(oldest)
        }
        setOpeningTimer()
    }

    private func sendAway(_ number: Int) {
        connections[number]?.abort(as: .sentAway)
        connections[number] = nil
        admission.forget(number)
    }

    private func setOpeningTimer() {
        guard !admission.isOpeningTimerSet, let oldest = admission.halfOpen.oldest.flatMap({ connections[$0] }) else {
            return
        }
        admission.isOpeningTimerSet = true
        loop.schedule(at: oldest.acceptedAt + .seconds(configuration.openingSecondsMax)) { [timerTarget] in
            guard let server = timerTarget.object else { return }
            server.admission.isOpeningTimerSet = false
            server.sendAwayLate()
            server.setOpeningTimer()
        }
    }

    /// Sends away who has had its time to open a connection.
    private func sendAwayLate() {
        let last = loop.now.monotonic - .seconds(configuration.openingSecondsMax)
        while let number = admission.halfOpen.oldest, let connection = connections[number],
            connection.acceptedAt <= last
        {
            sendAway(number)
        }
    }

    /// A connection is open as TLS and HTTP/2 want it.
    func opened(_ connection: SimulatorConnection) { admission.halfOpen.remove(connection.number) }

    /// A client has a good certificate, or was answered to a request with a good provider token.
    func proven(_ connection: SimulatorConnection) { admission.unproven.remove(connection.number) }

    /// Whether one more request may be open.
    var takesRequests: Bool { admission.requestsOpen < configuration.requestsOpenMax }

    func requestOpened() { admission.requestsOpen += 1 }

    func requestClosed() { admission.requestsOpen -= 1 }
}
