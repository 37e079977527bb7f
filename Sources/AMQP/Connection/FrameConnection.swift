import EventLoop

/// A stream of frames to and from a broker, with heartbeats. `ConnectionMachine` handles the methods of the
/// connection.
final class FrameConnection: ByteStreamHandler {
    /// The state of the stream. Each case lists its possible next states after "To:".
    private enum State {
        /// An open or opening stream. To: ending, ended.
        case active
        /// A stream that was closed or reset and whose end the transport has not reported yet. To: ended.
        case ending(AMQPError)
        case ended
    }

    /// The largest frame that is read before both sides agree on a limit.
    private static let openingFrameBytesMax = 16 * 1024
    /// The largest frame that is read after the login. A larger agreed limit replaces this limit. A broker sends the
    /// headers of a message in one frame. The headers that the broker adds (`x-delivery-count`, `x-death`) can make the
    /// frame exceed the agreed limit. Refusing the frame would close the connection, and the broker would redeliver the
    /// message.
    private static let readFrameBytesMax = 1 << 20
    /// The size at which output is written before the end of the event-loop iteration. At this size, the output is
    /// still in the processor's cache.
    private static let burstBytesMax = 64 * 1024

    /// The highest channel number that both sides agreed on; `channelsMax` before the agreement.
    private(set) var channelMax = UInt16(BrokerConnection.channelsMax)
    private(set) var isPaused = false
    private let loop: EventLoop
    /// The connection that uses the stream; nil after the end of the stream.
    private var owner: BrokerConnection?
    private var transport: ByteTransport?
    private var state = State.active
    private var splitter = FrameSplitter(frameBytesMax: openingFrameBytesMax)
    private var writer: FrameWriter
    private var heartbeatTimer: TimerToken?
    private var lastReceived: MonotonicTime
    private var lastSent: MonotonicTime
    private var isFlushing = false

    init(owner: BrokerConnection, outputBytesMax: Int) {
        self.owner = owner
        loop = owner.loop
        writer = FrameWriter(outputBytesMax: outputBytesMax)
        lastReceived = loop.now.monotonic
        lastSent = loop.now.monotonic
    }

    func open(_ connector: ByteConnector) {
        transport = connector.connect(self)
    }

    /// Whether the stream is open or opening. Otherwise, frames are neither read nor sent.
    var isActive: Bool {
        if case .active = state { true } else { false }
    }

    func agree(_ tuning: Handshake.Tuning) {
        splitter.frameBytesMax = max(Int(tuning.frameBytesMax), Self.readFrameBytesMax)
        writer.frameBytesMax = Int(tuning.frameBytesMax)
        channelMax = tuning.channelMax
        startHeartbeat(.seconds(Int(tuning.heartbeatSeconds)))
    }

    /// Sends a method. Returns false if its arguments cannot be encoded. Does nothing and returns true if the stream is
    /// closing or has ended.
    ///
    /// - Parameter channel: 0 for methods of the connection.
    func send(_ method: ClientMethod, channel: UInt16) -> Bool {
        loop.assertOnLoop()
        guard isActive else { return true }
        flushAfterIteration()
        return writer.write(method, channel: channel)
    }

    /// Sends an acknowledgment. Does nothing if the stream is closing or has ended.
    func acknowledge(_ deliveryTag: UInt64, multiple: Bool, channel: UInt16) {
        loop.assertOnLoop()
        guard isActive else { return }
        flushAfterIteration()
        writer.acknowledge(deliveryTag, multiple: multiple, channel: channel)
    }

    /// Publishes a message and returns its size on the wire in bytes.
    func publish(_ message: OutgoingMessage, channel: UInt16, userID: String?) throws(PublishRefusal) -> Int {
        loop.assertOnLoop()
        flushAfterIteration()
        let size = try writer.publish(message, channel: channel, userID: userID)
        writeBurst()
        return size
    }

    /// Writes output early once it is large. The rest waits for the end of the event-loop iteration, where the output
    /// limit is checked.
    private func writeBurst() {
        guard writer.output.count >= Self.burstBytesMax, let transport, isActive else { return }
        _ = writer.output.write(to: transport)
    }

    /// Schedules `flush` of the channels at the end of this event-loop iteration.
    func flushAfterIteration() {
        if !isFlushing { loop.flushAfterIteration(self) }
    }

    override func flush() {
        isFlushing = true
        owner?.flushChannels()
        isFlushing = false
        writeOut()
    }

    override func writable() {
        writeOut()
    }

    private func writeOut() {
        guard let transport, !writer.output.isEmpty else { return }
        guard isActive else { return writer.output.removeAll() }
        lastSent = loop.now.monotonic
        if !writer.output.write(to: transport), writer.output.isFull {
            reset(AMQPError(.timedOut, "the broker left \(writer.output.count) bytes unread"))
        }
    }

    /// Stops reading, so that TCP flow control stops the broker. While reading is paused, no heartbeat is expected.
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
        writer.protocolHeader()
        flushAfterIteration()
        owner?.streamOpened()
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        guard let owner else { return }
        lastReceived = loop.now.monotonic
        var rest = bytes
        do throws(AMQPError) {
            while isActive, let frame = try splitter.next(&rest) {
                try handle(frame, of: owner)
            }
        } catch {
            reset(error)
        }
    }

    private func handle(_ frame: Frame, of owner: BrokerConnection) throws(AMQPError) {
        switch frame.kind {
        case .heartbeat:
            return
        case .method:
            if let delivery = ServerMethod.Delivery(deliver: frame.payload) {
                return try require(channel(of: frame, owner).received(delivery))
            }
            guard let method = ServerMethod(frame.payload) else {
                throw violation("an unknown or malformed method")
            }
            if frame.channel == 0 {
                guard owner.received(method) else { throw violation("a channel method on channel 0") }
            } else {
                try require(channel(of: frame, owner).received(method))
            }
        case .contentHeader:
            try require(channel(of: frame, owner).receivedHeader(frame.payload))
        case .contentBody:
            try require(channel(of: frame, owner).receivedBody(frame.payload))
        }
    }

    private func channel(of frame: Frame, _ owner: BrokerConnection) throws(AMQPError) -> AMQPChannel {
        guard let channel = owner.channel(frame.channel) else {
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

    private func startHeartbeat(_ agreed: Duration) {
        guard agreed > .zero else { return }
        scheduleBeat(Heartbeat(agreed: agreed))
    }

    private func scheduleBeat(_ heartbeat: Heartbeat) {
        heartbeatTimer = loop.schedule(after: heartbeat.interval) { [weak self] in self?.beat(heartbeat) }
    }

    private func beat(_ heartbeat: Heartbeat) {
        guard isActive else { return }
        let action = heartbeat.beat(
            now: loop.now.monotonic, lastReceived: lastReceived, lastSent: lastSent, isPaused: isPaused,
            isOutputEmpty: writer.output.isEmpty)
        switch action {
        case .none: break
        case .send:
            writer.heartbeat()
            flushAfterIteration()
        case .fail: return reset(AMQPError(.timedOut, "the broker was silent for two heartbeat timeouts"))
        }
        scheduleBeat(heartbeat)
    }

    func reset(_ error: AMQPError) {
        guard isActive else { return }
        state = .ending(error)
        transport?.reset()
    }

    /// Writes the output that the transport accepts, and closes the stream after this output is sent.
    func finish(_ reason: AMQPError) {
        writeOut()
        guard isActive else { return }
        state = .ending(reason)
        transport?.close()
    }

    override func peerFinished() {
        guard isActive else { return }
        state = .ending(Self.closedByBroker)
        transport?.close()
    }

    private static let closedByBroker = AMQPError(.connectionLost, "the broker closed the connection")

    override func closed(_ error: TransportError?) {
        if let heartbeatTimer { loop.cancel(heartbeatTimer) }
        let reason =
            switch state {
            case .ending(let reason): reason
            case .active, .ended: error.map { AMQPError($0) } ?? Self.closedByBroker
            }
        transport = nil
        state = .ended
        owner?.streamEnded(reason)
        owner = nil
    }
}
