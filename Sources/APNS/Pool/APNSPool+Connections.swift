import APNSProtocol
import Crypto
import EventLoop
import Telemetry

/// The opening and draining of connections, as `PoolMachine` decides.
extension APNSPool {
    /// Connects without a push, and retries until a connection is up. The handler then receives `connected`. If a
    /// connection is up already, the handler receives the event later in this event-loop iteration or in the next one.
    public func probe() {
        loop.assertOnLoop()
        if machine.probe() {
            loop.schedule(after: .zero) { [self] in handler.received(.connected) }
        } else {
            openConnections()
        }
    }

    /// Ends ``probe()``. The pool then connects only for pushes.
    public func stopProbing() {
        loop.assertOnLoop()
        machine.stopProbing()
    }

    /// Drains all current connections. Later pushes use new connections.
    public func retireConnections() {
        loop.assertOnLoop()
        for slot in machine.retire() { connections[slot]?.drain() }
    }

    /// Opens and drains connections as the machine decides, and schedules the next check.
    func openConnections(isHigh: Bool = false) {
        while true {
            let demand = PoolMachine.Demand(
                hasShared: waiting.hasShared, isHigh: isHigh, hasFresh: waiting.hasFresh)
            switch machine.nextOpening(demand, loop.now.monotonic) {
            case .none: return
            case .later(let time): return openTimer.arm(at: time, for: self) { $0.openConnections() }
            case .drain(let slot): connections[slot]?.drain()
            case .open(let slot): open(slot)
            }
        }
    }

    /// Drains connections that the load no longer needs.
    private func shrink() {
        guard isAccepting, shrinkTimer == nil else { return }
        while true {
            switch machine.nextShrinking(loop.now.monotonic, random: loop.nextRandom) {
            case .none: return
            case .drain(let slot): connections[slot]?.drain()
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

    func settingsReceived(_ connection: APNSConnection, streamsMax: Int?) {
        let isNew = machine.settingsReceived(connection.slot, streamsMax: streamsMax)
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

    func goAwayReceived(_ connection: APNSConnection) {
        let event = machine.goAwayReceived(connection.slot)
        if let refusal = connection.certificateRefusal {
            refused(refusal)
        } else if let event {
            handler.received(event)
        }
        openConnections()
    }

    func drainStarted(_ connection: APNSConnection) {
        machine.drain(connection.slot)
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
        let error = error ?? TransportError(.reset, goAwayReason ?? "the connection was closed")
        let event = machine.closed(connection.slot, error, loop.now.monotonic, random: loop.nextRandom)
        if error.code == .certificateRefused {
            refused(.handshake(error.message))
        } else if let event {
            handler.received(event)
        }
        sendWaiting()
        openConnections()
    }

    /// Completes all waiting pushes, since every connection presents the same certificate. Reports the refusal to the
    /// handler.
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
