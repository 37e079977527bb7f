import AMQP
import EventLoop

/// A client's connection to the scripted broker, with its login, heartbeats, frames and channels.
final class ScriptedConnection: ByteStreamHandler {
    private enum State {
        /// Next: awaitingStartOK, ended.
        case awaitingHeader
        /// Next: awaitingTuneOK, closing, ended.
        case awaitingStartOK
        /// Next: awaitingOpen, closing, ended.
        case awaitingTuneOK
        /// Next: open, closing, ended.
        case awaitingOpen
        /// Next: closing, ended.
        case open
        /// A connection that the broker has closed. Next: ended.
        case closing
        case ended
    }

    let broker: ScriptedBroker
    private var transport: ByteTransport?
    private var state = State.awaitingHeader
    private var header: [UInt8] = []
    private var splitter: FrameSplitter
    private var output = OutputBuffer(bytesMax: .max)
    private var channels: [ScriptedChannel] = []
    private var frameBytesMax: Int
    private var heartbeat = Duration.zero
    private var heartbeatTimer: TimerToken?
    private var lastReceived: MonotonicTime
    private var isSilent = false
    private var hasPublished = false
    private var isBlocked = false

    init(broker: ScriptedBroker) {
        self.broker = broker
        frameBytesMax = Int(broker.behavior.frameBytesMax)
        splitter = FrameSplitter(frameBytesMax: frameBytesMax)
        lastReceived = broker.loop.now.monotonic
    }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        lastReceived = broker.loop.now.monotonic
        var rest = bytes
        if case .awaitingHeader = state { readHeader(&rest) }
        do {
            while takesFrames, let frame = try splitter.next(&rest) {
                receive(frame)
            }
        } catch {
            close(501, "FRAME_ERROR - \(error)")
        }
    }

    private var takesFrames: Bool {
        switch state {
        case .awaitingHeader, .ended: false
        case .awaitingStartOK, .awaitingTuneOK, .awaitingOpen, .open, .closing: true
        }
    }

    private func readHeader(_ rest: inout UnsafeRawBufferPointer) {
        let count = min(8 - header.count, rest.count)
        header += rest[..<count]
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        guard header.count == 8 else { return }
        guard header == Array("AMQP".utf8) + [0, 0, 9, 1] else { return end() }
        state = .awaitingStartOK
        send(.connectionStart) { writer in
            writer.octet(0)
            writer.octet(9)
            writer.table([
                "product": .string(broker.behavior.product.name),
                "version": .string(broker.behavior.product.version),
                "capabilities": .table(["publisher_confirms": true, "consumer_cancel_notify": true]),
            ])
            writer.longString(Array(broker.behavior.mechanisms.utf8))
            writer.longString(Array("en_US".utf8))
        }
    }

    override func flush() {
        for channel in channels { channel.sendConfirms() }
        writable()
    }

    override func writable() {
        guard let transport, !isSilent else { return }
        _ = output.write(to: transport)
    }

    override func peerFinished() {
        end()
    }

    override func closed(_ error: TransportError?) {
        detach()
    }

    /// Sends a method.
    ///
    /// - Parameter channel: The channel number; 0 for methods of the connection.
    func send(_ method: AMQPMethod, on channel: UInt16 = 0, _ arguments: (inout WireWriter) -> Void = { _ in }) {
        var writer = WireWriter()
        writer.long(method.rawValue)
        arguments(&writer)
        sendFrame(.method, channel, writer.bytes[...])
    }

    func sendContent(_ channel: UInt16, propertyList: [UInt8], body: [UInt8]) {
        var writer = WireWriter()
        writer.short(AMQPMethod.basicClass)
        writer.short(0)
        writer.longLong(UInt64(body.count))
        writer.raw(propertyList)
        sendFrame(.contentHeader, channel, writer.bytes[...])
        var rest = body[...]
        while !rest.isEmpty {
            let part = rest.prefix(frameBytesMax - Frame.overheadBytes)
            sendFrame(.contentBody, channel, part)
            rest = rest.dropFirst(part.count)
        }
    }

    private func sendFrame(_ kind: Frame.Kind, _ channel: UInt16, _ payload: ArraySlice<UInt8>) {
        var writer = WireWriter()
        writer.octet(kind.rawValue)
        writer.short(channel)
        writer.long(UInt32(payload.count))
        writer.raw(payload)
        writer.octet(Frame.endByte)
        writer.bytes.withUnsafeBytes { output.append($0) }
        flushAfterIteration()
    }

    func flushAfterIteration() {
        broker.loop.flushAfterIteration(self)
    }

    private func receive(_ frame: Frame) {
        if frame.channel == 0 {
            guard frame.kind == .method else { return }
            var reader = WireReader(frame.payload)
            return receive(AMQPMethod(&reader), &reader)
        }
        guard case .open = state else { return }
        if let channel = channels.first(where: { $0.number == frame.channel }) {
            channel.receive(frame)
        } else {
            var reader = WireReader(frame.payload)
            guard frame.kind == .method, AMQPMethod(&reader) == .channelOpen else {
                return close(504, "CHANNEL_ERROR - expected 'channel.open'")
            }
            channels.append(ScriptedChannel(number: frame.channel, connection: self))
            send(.channelOpenOK, on: frame.channel) { $0.longString([]) }
        }
    }

    /// Handles a method on channel 0.
    private func receive(_ method: AMQPMethod?, _ reader: inout WireReader) {
        switch (state, method) {
        case (.awaitingStartOK, .connectionStartOK):
            startOK(&reader)
        case (.awaitingTuneOK, .connectionTuneOK):
            tuneOK(&reader)
        case (.awaitingOpen, .connectionOpen):
            let name = reader.text()
            guard name == broker.behavior.virtualHost else {
                return close(530, "NOT_ALLOWED - vhost \(name ?? "") not found")
            }
            state = .open
            broker.logins += 1
            send(.connectionOpenOK) { $0.shortString("") }
        case (.closing, .connectionCloseOK):
            end()
        case (_, .connectionClose):
            send(.connectionCloseOK)
            end()
        default:
            close(503, "COMMAND_INVALID")
        }
    }

    private func startOK(_ reader: inout WireReader) {
        let credentials = broker.behavior.credentials
        guard reader.longString() != nil, let mechanism = reader.shortString(), let response = reader.longString()
        else {
            return close(502, "SYNTAX_ERROR")
        }
        let plain = [0] + Array(credentials.user.utf8) + [0] + Array(credentials.password.utf8)
        let name = String(wire: mechanism)
        guard broker.behavior.mechanisms.contains(name), response.elementsEqual(name == "PLAIN" ? plain : []) else {
            return close(403, "ACCESS_REFUSED - Login was refused using authentication mechanism \(name).")
        }
        state = .awaitingTuneOK
        send(.connectionTune) { writer in
            writer.short(broker.behavior.channelMax)
            writer.long(UInt32(frameBytesMax))
            writer.short(broker.behavior.heartbeatSeconds)
        }
    }

    private func tuneOK(_ reader: inout WireReader) {
        guard reader.short() != nil, let frameMax = reader.long(), let seconds = reader.short() else {
            return close(502, "SYNTAX_ERROR")
        }
        if frameMax > 0 { frameBytesMax = min(frameBytesMax, Int(frameMax)) }
        heartbeat = .seconds(Int(seconds))
        state = .awaitingOpen
        if heartbeat > .zero { scheduleHeartbeat() }
    }

    private func scheduleHeartbeat() {
        heartbeatTimer = broker.loop.schedule(after: heartbeat / 2) { [self] in
            guard transport != nil else { return }
            if lastReceived.duration(to: broker.loop.now.monotonic) > heartbeat * 3, !isSilent, !isBlocked {
                return cut()
            }
            sendFrame(.heartbeat, 0, [])
            scheduleHeartbeat()
        }
    }

    func remove(_ channel: ScriptedChannel) {
        channels.removeAll { $0 === channel }
    }

    func closeChannels(_ code: UInt16, _ text: String) {
        for channel in channels { channel.close(code, text) }
    }

    func clientPublishes() {
        guard !hasPublished else { return }
        hasPublished = true
        alarmChanged()
    }

    /// Blocks or unblocks the connection. RabbitMQ blocks only connections that have published.
    func alarmChanged() {
        guard hasPublished, case .open = state else { return }
        if let alarm = broker.alarm, !isBlocked {
            isBlocked = true
            send(.connectionBlocked) { $0.shortString(alarm) }
            transport?.pauseReading()
        } else if broker.alarm == nil, isBlocked {
            isBlocked = false
            send(.connectionUnblocked)
            transport?.resumeReading()
        }
    }

    func setSilent(_ isSilent: Bool) {
        self.isSilent = isSilent
        if isSilent {
            transport?.pauseReading()
        } else {
            transport?.resumeReading()
            flushAfterIteration()
        }
    }

    func close(_ code: UInt16, _ text: String) {
        guard takesFrames else { return }
        send(.connectionClose) { writer in
            writer.short(code)
            writer.shortString(text)
            writer.short(0)
            writer.short(0)
        }
        state = .closing
        endChannels()
        flushAfterIteration()
    }

    func cut() {
        transport?.reset()
        detach()
    }

    private func end() {
        if !isSilent { writable() }
        transport?.close()
        detach()
    }

    private func detach() {
        guard transport != nil || takesFrames else { return }
        transport = nil
        state = .ended
        if let heartbeatTimer { broker.loop.cancel(heartbeatTimer) }
        broker.remove(self)
        endChannels()
    }

    private func endChannels() {
        let ended = channels
        channels = []
        for channel in ended { channel.end() }
    }
}
