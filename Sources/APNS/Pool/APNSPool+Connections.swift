import APNSProtocol
import Crypto
import EventLoop
import Telemetry

/// Connections: opens as many as `PoolMachine` wants, and closes those that it leaves.
extension APNSPool {
    /// Keeps connecting, with no push to send, until a connection stands; the handler receives `connected`, soon if one stands already.
    public func probe() {
        loop.assertOnLoop()
        if machine.probe() {
            loop.schedule(after: .zero) { [self] in handler.received(.connected) }
        } else {
            openConnections()
        }
    }

    /// Connects for pushes only.
    public func stopProbing() {
        loop.assertOnLoop()
        machine.stopProbing()
    }

    /// Leaves the connections that there are; pushes from now on get new ones.
    public func retireConnections() {
        loop.assertOnLoop()
        for slot in machine.retire() { connections[slot]?.drain() }
    }

    /// Opens as many connections as the machine wants, and asks again when it says so.
    func openConnections(isHigh: Bool = false) {
        while true {
            let demand = PoolMachine.Demand(
                hasShared: waiting.hasShared, isHigh: isHigh, hasFresh: waiting.hasFresh)
            switch machine.nextOpening(demand, loop.now.monotonic) {
            case .none: return
            case .later(let time): return openTimer.arm(at: time, for: self) { $0.openConnections() }
            case .leave(let slot): connections[slot]?.drain()
            case .open(let slot): open(slot)
            }
        }
    }

    /// Leaves connections that are not needed any more.
    private func shrink() {
        guard isAccepting, shrinkTimer == nil else { return }
        while true {
            switch machine.nextShrinking(loop.now.monotonic, random: loop.nextRandom) {
            case .none: return
            case .leave(let slot): connections[slot]?.drain()
            case .later(let time):
                shrinkTimer = loop.schedule(at: time) { [self] in
                    shrinkTimer = nil
                    shrink()
                }
                return
            }
        }
    }

    private func open(_ slot: Int) {
        metrics.connects.add()
        let connection = APNSConnection(
            number: machine.begun, slot: slot, pool: self, loop: loop, configuration: configuration)
        if slot == connections.count { connections.append(connection) } else { connections[slot] = connection }
        connection.open(through: connector)
    }

    func settingsCame(_ connection: APNSConnection, streamsMax: Int?) {
        let isNew = machine.settingsCame(connection.slot, streamsMax: streamsMax)
        log.debug(
            .connectionOpened,
            [
                .apnsHost: .string(configuration.authority), .apnsConnection: .integer(connection.number),
                .apnsStreamsMax: streamsMax.map { .integer($0) },
            ])
        if isNew { handler.received(.connected) }
        shrink()
        sendFresh(on: connection.slot)
        sendWaiting()
    }

    func goAwayCame(_ connection: APNSConnection) {
        let event = machine.goAwayCame(connection.slot)
        if let refusal = connection.certificateRefusal {
            refused(refusal)
        } else if let event {
            handler.received(event)
        }
        openConnections()
    }

    func left(_ connection: APNSConnection) {
        machine.leave(connection.slot)
        openConnections()
    }

    func connectionClosed(_ connection: APNSConnection, _ error: TransportError?, goAwayReason: String?) {
        connections[connection.slot] = nil
        log.debug(
            .connectionEnded,
            [
                .apnsHost: .string(configuration.authority), .apnsConnection: .integer(connection.number),
                .apnsReason: goAwayReason.map { .string($0) }, .error: error.map { .string($0.message) },
            ])
        let error = error ?? TransportError(.reset, goAwayReason ?? "the connection ended before it stood")
        let event = machine.closed(connection.slot, error, loop.now.monotonic, random: loop.nextRandom)
        if error.code == .certificateRefused {
            refused(.handshake(error.message))
        } else if let event {
            handler.received(event)
        }
        sendWaiting()
        openConnections()
    }

    /// What waits would hear the same on every connection.
    func refused(_ refusal: CertificateRefusal) {
        while let push = waiting.popAny() { end(push, .notSent(.certificateRefused(refusal))) }
        waitTimer.cancel()
        handler.received(.certificateRefused(refusal))
    }

    func streamEnded(_ connection: APNSConnection, _ end: StreamGate.End) {
        machine.streamEnded(connection.slot, end, loop.now.monotonic)
    }

    func freshEnded(on connection: APNSConnection, isAccepted: Bool) {
        for slot in machine.freshEnded(connection.slot, isAccepted: isAccepted) { connections[slot]?.drain() }
    }
}
