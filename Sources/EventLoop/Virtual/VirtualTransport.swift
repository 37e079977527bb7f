/// One end of a connection in memory.
final class VirtualTransport: ByteTransport {
    enum State { case connecting, open, ended }

    private(set) var state = State.connecting
    private let network: VirtualNetwork
    private weak var peer: VirtualTransport?
    private weak var connection: VirtualConnection?
    private var isReading = true
    private var isWaitingForRoom = false
    private var hasFinishedWriting = false
    private var bytesInTransit = 0
    /// Pieces that have arrived but are not delivered yet. nil marks the end of the peer's bytes.
    private var arrived: [[UInt8]?] = []
    private var lastArrival = MonotonicTime(nanoseconds: 0)

    init(loop: EventLoop, network: VirtualNetwork, handler: ByteStreamHandler?) {
        self.network = network
        super.init(loop: loop, handler: handler)
    }

    func join(_ connection: VirtualConnection, to peer: VirtualTransport) {
        self.connection = connection
        self.peer = peer
    }

    func open() {
        loop.later { [self] in
            guard state == .connecting else { return }
            state = .open
            handler?.connected(self)
        }
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        loop.assertOnLoop()
        guard state == .open, !hasFinishedWriting else { return 0 }
        let taken = min(bytes.count, VirtualNetwork.windowBytes - bytesInTransit)
        isWaitingForRoom = taken < bytes.count
        var rest = bytes[..<taken]
        while !rest.isEmpty {
            let whole = network.random.chance(percent: network.wholePiecesPercent)
            let count = whole ? rest.count : 1 + network.random.below(rest.count)
            send([UInt8](rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return taken
    }

    override func finishWriting() {
        guard state == .open, !hasFinishedWriting else { return }
        hasFinishedWriting = true
        send(nil)
    }

    /// Sends a piece, or nil for the end. The piece arrives after the latency and after everything that was sent
    /// earlier.
    private func send(_ piece: [UInt8]?) {
        bytesInTransit += piece?.count ?? 0
        lastArrival = max(lastArrival, loop.now.monotonic + network.latency())
        guard let peer else { return }
        loop.schedule(at: lastArrival) { peer.arrive(piece) }
    }

    private func pieceDelivered(_ count: Int) {
        bytesInTransit -= count
        guard isWaitingForRoom, state == .open, bytesInTransit < VirtualNetwork.windowBytes else { return }
        isWaitingForRoom = false
        handler?.writable()
    }

    private func arrive(_ piece: [UInt8]?) {
        guard state == .open else { return }
        arrived.append(piece)
        deliverArrived()
    }

    private func deliverArrived() {
        while isReading, state == .open, !arrived.isEmpty {
            let piece = arrived.removeFirst()
            guard let piece else {
                handler?.peerFinished()
                continue
            }
            receive(piece)
            peer?.pieceDelivered(piece.count)
        }
    }

    private func receive(_ piece: [UInt8]) {
        guard let connection else { return }
        let direction = connection.direction(to: self)
        connection.onDelivery(direction, piece.count)
        guard state == .open else { return }
        let allowed = connection.allowance(piece.count, direction)
        connection.count(allowed, direction)
        network.history.mix(loop.now.monotonic, connection.number, piece[..<allowed])
        if allowed > 0 {
            piece.withUnsafeBytes { handler?.received(UnsafeRawBufferPointer(rebasing: $0[..<allowed])) }
        }
        if connection.allowance(1, direction) < 1 { connection.cut() }
    }

    override func pauseReading() {
        isReading = false
    }

    override func resumeReading() {
        guard !isReading else { return }
        isReading = true
        loop.later { [self] in deliverArrived() }
    }

    override func close() {
        guard state != .ended else { return }
        finishWriting()
        end(nil)
    }

    override func reset() {
        guard state != .ended else { return }
        let peer = peer
        connection?.isOpen = false
        end(nil)
        loop.schedule(after: network.latency()) {
            peer?.end(TransportError(.reset, "connection reset by peer"))
        }
    }

    func end(_ error: TransportError?) {
        guard state != .ended else { return }
        state = .ended
        arrived = []
        network.forget(self)
        if let connection { network.history.mix(loop.now.monotonic, connection.number, []) }
        loop.later { [self] in
            let handler = handler
            self.handler = nil
            handler?.closed(error)
        }
    }
}
