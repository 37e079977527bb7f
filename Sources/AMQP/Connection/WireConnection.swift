import EventLoop

/// One connection to a broker from its first byte to its last: login, heartbeats, frames in and out.
final class WireConnection: ByteStreamHandler {
    private enum State {
        /// The stream is being opened, or the login is under way. To: open, ending, ended.
        case opening
        /// To: closing, ending, ended.
        case open
        /// `connection.close` was sent; `close-ok` is awaited. To: ending, ended.
        case closing
        /// The stream has been closed or reset; its end has not been told yet. To: ended.
        case ending
        case ended
    }

    /// Frames before the login has agreed on a length.
    private static let openingFrameBytesMax = 16 * 1024
    /// So much of a turn's output is written at once, while it is in the processor's caches; the rest at the turn's end.
    private static let burstBytesMax = 64 * 1024

    let loop: EventLoop
    /// What the broker says it is: product, version, capabilities.
    var serverProperties = FieldTable()
    /// The highest number of a channel that both sides agreed on.
    var channelMax = UInt16(BrokerConnection.channelsMax)
    let configuration: ConnectionConfiguration
    private let endpoint: Endpoint
    /// Let go when the connection has ended.
    private var owner: BrokerConnection?
    private var transport: ByteTransport?
    private var state = State.opening
    var handshake: Handshake
    var splitter: FrameSplitter
    var writer: FrameWriter
    private var endReason: AMQPError?
    private var heartbeatTimer: TimerToken?
    private var lastReceived: MonotonicTime
    private var lastSent: MonotonicTime
    private(set) var isPaused = false
    private var isFlushing = false
    private var isConnected = false

    init(configuration: ConnectionConfiguration, owner: BrokerConnection, endpoint: Endpoint, loop: EventLoop) {
        self.loop = loop
        self.endpoint = endpoint
        self.configuration = configuration
        self.owner = owner
        handshake = Handshake(
            wanted: Handshake.Tuning(
                channelMax: UInt16(BrokerConnection.channelsMax),
                frameBytesMax: UInt32(clamping: configuration.frameBytesMax),
                heartbeatSeconds: UInt16(clamping: configuration.heartbeatSeconds)),
            prefersExternal: configuration.prefersCertificate)
        splitter = FrameSplitter(frameBytesMax: Self.openingFrameBytesMax)
        writer = FrameWriter(outputBytesMax: configuration.outputBytesMax)
        lastReceived = loop.now.monotonic
        lastSent = loop.now.monotonic
    }

    func open(_ connector: ByteConnector) {
        transport = connector.connect(self)
    }

    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Sends a method. Returns false if its arguments cannot be encoded. Sends nothing once the connection ends.
    ///
    /// - Parameter channel: 0 for the connection's own methods.
    @discardableResult
    func send(_ method: ClientMethod, channel: UInt16) -> Bool {
        loop.assertOnLoop()
        guard isReading else { return true }
        flushAtEndOfTurn()
        return writer.write(method, channel: channel)
    }

    /// Sends an acknowledgement, unless the connection ends.
    func acknowledge(_ deliveryTag: UInt64, multiple: Bool, channel: UInt16) {
        loop.assertOnLoop()
        guard isReading else { return }
        flushAtEndOfTurn()
        writer.acknowledge(deliveryTag, multiple: multiple, channel: channel)
    }

    /// Sends a message to be routed; returns its bytes on the wire.
    func publish(_ message: OutgoingMessage, channel: UInt16, userID: String?) throws(PublishRefusal) -> Int {
        loop.assertOnLoop()
        flushAtEndOfTurn()
        let size = try writer.publish(message, channel: channel, userID: userID)
        writeBurst()
        return size
    }

    /// What the transport does not take waits for the turn's end, which judges a broker that reads too little.
    private func writeBurst() {
        guard writer.output.count >= Self.burstBytesMax, let transport, isOpen else { return }
        _ = writer.output.write(to: transport)
    }

    /// Has the channels' `willFlush` called at the end of this turn.
    func flushAtEndOfTurn() {
        if !isFlushing { loop.flushAtEndOfTurn(self) }
    }

    override func flush() {
        isFlushing = true
        owner?.willFlush()
        isFlushing = false
        writeOut()
    }

    override func writable() {
        writeOut()
    }

    private func writeOut() {
        guard let transport, !writer.output.isEmpty else { return }
        switch state {
        case .opening, .open, .closing: break
        case .ending, .ended: return writer.output.removeAll()
        }
        lastSent = loop.now.monotonic
        if !writer.output.write(to: transport), writer.output.isFull {
            fail(AMQPError(.timedOut, "the broker left \(writer.output.count) bytes unread"))
        }
    }

    /// Holds up the broker by flow control; heartbeats are not expected meanwhile.
    func pauseReading() {
        guard !isPaused else { return }
        isPaused = true
        transport?.pauseReading()
    }

    func resumeReading() {
        isPaused = false
        lastReceived = loop.now.monotonic
        transport?.resumeReading()
    }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
        isConnected = true
        owner?.loginBegan()
        writer.protocolHeader()
        flushAtEndOfTurn()
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        lastReceived = loop.now.monotonic
        var rest = bytes
        do throws(AMQPError) {
            while isReading, let frame = try splitter.next(&rest) {
                try handle(frame)
            }
        } catch {
            fail(error)
        }
    }

    private var isReading: Bool {
        switch state {
        case .opening, .open, .closing: true
        case .ending, .ended: false
        }
    }

    private func handle(_ frame: Frame) throws(AMQPError) {
        switch frame.kind {
        case .heartbeat:
            return
        case .method:
            if let delivery = ServerMethod.Delivery(deliver: frame.payload) {
                return try require(channel(frame).received(delivery))
            }
            guard let method = ServerMethod(frame.payload) else {
                throw violation("a method that no broker sends to a client, or a broken one")
            }
            if frame.channel == 0 {
                try handleOnConnection(method)
            } else {
                try require(channel(frame).received(method))
            }
        case .contentHeader:
            try require(channel(frame).receivedHeader(frame.payload))
        case .contentBody:
            try require(channel(frame).receivedBody(frame.payload))
        }
    }

    private func channel(_ frame: Frame) throws(AMQPError) -> BrokerChannel {
        guard handshake.state == .open, let channel = owner?.channel(frame.channel) else {
            throw violation("a frame on a channel that is not open")
        }
        return channel
    }

    private func require(_ isExpected: Bool) throws(AMQPError) {
        if !isExpected { throw violation("a frame out of order") }
    }

    private func violation(_ what: String) -> AMQPError {
        AMQPError(.protocolViolation, "the broker sent \(what)")
    }

    private func handleOnConnection(_ method: ServerMethod) throws(AMQPError) {
        switch method {
        case .connectionStart(let start): try loginStarted(start)
        case .connectionTune(let tune): try loginTuned(tune)
        case .connectionOpenOK: try loginOpened()
        case .connectionClose(let close):
            endReason = endReason ?? AMQPError(close)
            send(.connectionCloseOK, channel: 0)
            finish()
        case .connectionCloseOK:
            guard case .closing = state else { throw violation("a method out of order") }
            finish()
        case .connectionBlocked(let reason):
            owner?.blocked(String(wire: reason))
        case .connectionUnblocked:
            owner?.blocked(nil)
        default:
            throw violation("a channel's method without a channel")
        }
    }

    /// The login is over.
    func loginEnded() {
        state = .open
        owner?.loginEnded()
    }

    func startHeartbeat(_ agreed: Duration) {
        guard agreed > .zero else { return }
        scheduleBeat(Heartbeat(agreed: agreed))
    }

    private func scheduleBeat(_ heartbeat: Heartbeat) {
        heartbeatTimer = loop.schedule(after: heartbeat.interval) { [weak self] in self?.beat(heartbeat) }
    }

    private func beat(_ heartbeat: Heartbeat) {
        guard isReading else { return }
        let action = heartbeat.beat(
            now: loop.now.monotonic, lastReceived: lastReceived, lastSent: lastSent, isPaused: isPaused,
            isOutputEmpty: writer.output.isEmpty)
        switch action {
        case .none: break
        case .send:
            writer.heartbeat()
            flushAtEndOfTurn()
        case .fail: return fail(AMQPError(.timedOut, "the broker was silent for two heartbeats"))
        }
        scheduleBeat(heartbeat)
    }

    /// Says goodbye; the owner's `closed` is called when the broker has answered.
    func close() {
        switch state {
        case .opening:
            endReason = endReason ?? Self.closedByUs
            state = .ending
            transport?.reset()
        case .open:
            endReason = endReason ?? Self.closedByUs
            send(.connectionClose, channel: 0)
            state = .closing
            // The answer must be read, whatever holds up deliveries.
            resumeReading()
        case .closing, .ending, .ended: break
        }
    }

    /// Ends the connection at once.
    func fail(_ error: AMQPError) {
        guard isReading else { return }
        endReason = endReason ?? error
        state = .ending
        transport?.reset()
    }

    /// Ends the stream in order, after what waits was written.
    private func finish() {
        writeOut()
        guard isReading else { return }
        state = .ending
        transport?.close()
    }

    override func peerFinished() {
        guard isReading else { return }
        endReason = endReason ?? Self.closedByBroker
        state = .ending
        transport?.close()
    }

    /// Of AMQP, without TLS and with it.
    private static let standardPorts: [UInt16] = [5672, 5671]
    private static let closedByUs = AMQPError(.closed, "closed")
    private static let closedByBroker = AMQPError(.connectionLost, "the broker closed the connection")

    override func closed(_ error: TransportError?) {
        if let heartbeatTimer { loop.cancel(heartbeatTimer) }
        transport = nil
        state = .ended
        let reason = endReason ?? error.map { AMQPError($0) } ?? Self.closedByBroker
        owner?.closed(reason.code == .closed ? reason : inContext(reason))
        owner = nil
    }

    /// Says how far the connection had come: what never began is not lost.
    private func inContext(_ reason: AMQPError) -> AMQPError {
        var error = reason
        let place = endpoint.description
        let text =
            reason.message.hasPrefix(place + ": ")
            ? String(reason.message.dropFirst(place.utf8.count + 2)) : reason.message
        if !isConnected {
            error.message = "cannot connect to \(place): \(text)"
        } else if handshake.state != .open {
            let login =
                switch handshake.mechanism {
                case .plain: "as \(configuration.credentials.user)"
                case .external: "by certificate"
                }
            error.message = "cannot log in at \(place) \(login): \(text)"
            if handshake.state == .awaitingStart, error.isRetriable, !Self.standardPorts.contains(endpoint.port) {
                error.message += "; is \(endpoint.port) the port of AMQP (5672, or 5671 with amqps://)?"
            }
        } else {
            error.message = "the connection to \(place) was lost: \(text)"
            return error
        }
        if error.code == .connectionLost { error.code = .cannotConnect }
        return error
    }
}
