import CRabbitMQ
import EventLoop

/// One connection to a broker: login, heartbeats, frames in and out. The one channel that is used has number 1.
final class Connection: ByteStreamHandler {
    private enum State {
        /// The stream is being opened, or the login is under way.
        case opening
        case open
        /// `connection.close` was sent; `close-ok` is awaited.
        case closing
        /// The stream has been closed or reset; its end has not been told yet.
        case ending
        case ended
    }

    static let channel: UInt16 = 1
    /// Frames before the login has agreed on a length.
    private static let openingFrameBytesMax = 16 * 1024
    /// Frames after it, whatever was agreed: a broker sends the headers of a message in one frame even where it has added
    /// its own (`x-delivery-count`, `x-death`) to those that filled one. Refusing it would end the connection, and the
    /// message would come again.
    private static let readFrameBytesMax = 1 << 20

    let loop: EventLoop
    /// What the broker says it is: product, version, capabilities.
    private(set) var serverProperties = FieldTable()
    private let configuration: ConnectionConfiguration
    /// Let go when the connection has ended.
    private var owner: BrokerClient?
    private var transport: ByteTransport?
    private var state = State.opening
    private var handshake: Handshake
    private var splitter: FrameSplitter
    private var writer: FrameWriter
    private var endReason: AMQPError?
    private var heartbeat = Duration.zero
    private var heartbeatTimer: TimerToken?
    private var lastReceived: MonotonicTime
    private var lastSent: MonotonicTime
    private(set) var isPaused = false
    private var isFlushing = false

    init(configuration: ConnectionConfiguration, owner: BrokerClient, loop: EventLoop) {
        self.loop = loop
        self.configuration = configuration
        self.owner = owner
        handshake = Handshake(
            wanted: Handshake.Tuning(
                channelMax: 16, frameBytesMax: UInt32(clamping: configuration.frameBytesMax),
                heartbeatSeconds: UInt16(clamping: configuration.heartbeatSeconds)))
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

    /// Sends a method on the channel; `false` when its arguments cannot be encoded. Nothing is sent unless open.
    @discardableResult
    func send<Method: ClientMethod>(_ method: Method, argumentBytesMax: Int = 64) -> Bool {
        send(method, channel: Self.channel, argumentBytesMax: argumentBytesMax)
    }

    /// As `send`, for methods with strings and tables, whose memory comes from the pool.
    func send<Method: ClientMethod>(_ make: (MemoryPool) -> Method) -> Bool {
        defer { writer.pool.recycle() }
        let method = make(writer.pool)
        guard !writer.pool.hasLongName else { return false }
        return send(method, channel: Self.channel, argumentBytesMax: writer.frameBytesMax)
    }

    /// Sends a message to be routed; returns its bytes on the wire.
    func publish(_ message: OutgoingMessage) throws(PublishRefusal) -> Int {
        flushAtEndOfTurn()
        return try writer.publish(message, channel: Self.channel)
    }

    private func send<Method: ClientMethod>(_ method: Method, channel: UInt16, argumentBytesMax: Int) -> Bool {
        switch state {
        case .opening, .open, .closing: break
        case .ending, .ended: return true
        }
        flushAtEndOfTurn()
        return writer.method(method, channel: channel, argumentBytesMax: argumentBytesMax)
    }

    /// Has `connectionWillFlush` called at the end of this turn.
    func flushAtEndOfTurn() {
        if !isFlushing { loop.flushAtEndOfTurn(self) }
    }

    override func flush() {
        isFlushing = true
        owner?.connectionWillFlush()
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
        guard isPaused else { return }
        isPaused = false
        lastReceived = loop.now.monotonic
        transport?.resumeReading()
    }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
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
            guard let method = ServerMethod.decode(frame.payload, pool: writer.pool) else {
                throw violation("a method that no broker sends to a client, or a broken one")
            }
            defer { writer.pool.recycle() }
            if frame.channel == 0 {
                try handleOnConnection(method)
            } else {
                try require(frame, owner?.received(method))
            }
        case .contentHeader:
            try require(frame, owner?.receivedContentHeader(frame.payload))
        case .contentBody:
            try require(frame, owner?.receivedContentBody(frame.payload))
        }
    }

    private func require(_ frame: Frame, _ isExpected: @autoclosure () -> Bool?) throws(AMQPError) {
        guard frame.channel == Self.channel, handshake.state == .open else {
            throw violation("a frame on a channel that is not open")
        }
        guard isExpected() ?? true else { throw violation("a frame out of order") }
    }

    private func violation(_ what: String) -> AMQPError {
        AMQPError(.protocolViolation, "the broker sent \(what)")
    }

    private func handleOnConnection(_ method: ServerMethod) throws(AMQPError) {
        switch method {
        case .connectionStart(let start):
            serverProperties = start.serverProperties
            try perform(
                handshake.handle(
                    .start(
                        versionMajor: start.versionMajor, versionMinor: start.versionMinor, mechanisms: start.mechanisms
                    )
                ))
        case .connectionTune(let tune):
            try perform(
                handshake.handle(
                    .tune(
                        Handshake.Tuning(
                            channelMax: tune.channel_max, frameBytesMax: tune.frame_max,
                            heartbeatSeconds: tune.heartbeat)
                    )))
        case .connectionOpenOK:
            try perform(handshake.handle(.openOK))
        case .connectionClose(let close):
            endReason = endReason ?? AMQPError(replyCode: close.reply_code, replyText: close.reply_text.string)
            _ = send(amqp_connection_close_ok_t(), channel: 0, argumentBytesMax: 8)
            finish()
        case .connectionCloseOK:
            guard case .closing = state else { throw violation("a method out of order") }
            finish()
        case .connectionBlocked(let blocked):
            owner?.connectionBlocked(blocked.reason.string)
        case .connectionUnblocked:
            owner?.connectionBlocked(nil)
        default:
            throw violation("a channel's method without a channel")
        }
    }

    private func perform(_ action: Handshake.Action) throws(AMQPError) {
        switch action {
        case .sendStartOK: sendStartOK()
        case .sendTuneOKAndOpen(let tuning): apply(tuning)
        case .ready:
            state = .open
            owner?.connectionOpened()
        case .fail(let error): throw error
        }
    }

    private func sendStartOK() {
        let pool = writer.pool
        var response: [UInt8] = [0]
        response += configuration.credentials.user.utf8
        response.append(0)
        response += configuration.credentials.password.utf8
        let startOK = amqp_connection_start_ok_t(
            client_properties: pool.table(Self.clientProperties(name: configuration.connectionName)),
            mechanism: pool.bytes("PLAIN"), response: response.withUnsafeBytes { pool.bytes($0) },
            locale: pool.bytes("en_US"))
        _ = send(startOK, channel: 0, argumentBytesMax: Int(Handshake.frameBytesMin) - 16)
    }

    private static func clientProperties(name: String) -> FieldTable {
        [
            "product": "Martlet",
            "platform": "Swift",
            "connection_name": .string(name),
            "capabilities": .table([
                "consumer_cancel_notify": true,
                "connection.blocked": true,
                "publisher_confirms": true,
                "basic.nack": true,
                "exchange_exchange_bindings": true,
                "authentication_failure_close": true,
                "per_consumer_qos": true,
            ]),
        ]
    }

    private func apply(_ tuning: Handshake.Tuning) {
        splitter.frameBytesMax = max(Int(tuning.frameBytesMax), Self.readFrameBytesMax)
        writer.frameBytesMax = Int(tuning.frameBytesMax)
        let tuneOK = amqp_connection_tune_ok_t(
            channel_max: tuning.channelMax, frame_max: tuning.frameBytesMax, heartbeat: tuning.heartbeatSeconds)
        _ = send(tuneOK, channel: 0, argumentBytesMax: 16)
        let open = amqp_connection_open_t(
            virtual_host: writer.pool.bytes(configuration.virtualHost), capabilities: amqp_bytes_t(), insist: 0)
        if !send(open, channel: 0, argumentBytesMax: 512) {
            fail(AMQPError(.invalidURL, "the virtual host's name is longer than 255 bytes", isRetriable: false))
        }
        heartbeat = .seconds(Int(tuning.heartbeatSeconds))
        if heartbeat > .zero { scheduleHeartbeat() }
    }

    private func scheduleHeartbeat() {
        heartbeatTimer = loop.schedule(after: heartbeat / 2) { [weak self] in self?.beat() }
    }

    /// Every half heartbeat: says something when nothing was said, and looks whether the broker did.
    private func beat() {
        guard isReading else { return }
        let now = loop.now.monotonic
        if !isPaused, lastReceived.duration(to: now) >= heartbeat * 2 {
            return fail(AMQPError(.timedOut, "the broker was silent for two heartbeats"))
        }
        if lastSent.duration(to: now) >= heartbeat / 2, writer.output.isEmpty {
            writer.heartbeat()
            flushAtEndOfTurn()
        }
        scheduleHeartbeat()
    }

    /// Says goodbye; the end is told by `connectionClosed` when the broker has answered.
    func close() {
        switch state {
        case .opening:
            endReason = endReason ?? Self.closedByUs
            state = .ending
            transport?.reset()
        case .open:
            endReason = endReason ?? Self.closedByUs
            _ = send(
                amqp_connection_close_t(reply_code: 200, reply_text: amqp_bytes_t(), class_id: 0, method_id: 0),
                channel: 0, argumentBytesMax: 16)
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
        endReason = endReason ?? AMQPError(.connectionLost, Self.loginIsOver(handshake.state))
        state = .ending
        transport?.close()
    }

    private static func loginIsOver(_ state: Handshake.State) -> String {
        switch state {
        case .open: "the broker closed the connection"
        case .awaitingStart, .awaitingTune, .awaitingOpenOK, .failed:
            "the broker closed the connection during the login"
        }
    }

    private static let closedByUs = AMQPError(.closed, "closed")

    override func closed(_ error: TransportError?) {
        if let heartbeatTimer { loop.cancel(heartbeatTimer) }
        heartbeatTimer = nil
        transport = nil
        state = .ended
        let reason = endReason ?? error.map { AMQPError($0) } ?? AMQPError(.connectionLost, "the connection was closed")
        owner?.connectionClosed(reason)
        owner = nil
    }
}
