internal import CNGHTTP2
public import EventLoop

/// The server side of an HTTP/2 connection. Set the server as the handler of an accepted transport.
///
/// If a client exceeds the announced number of streams, nghttp2 answers with an error that cannot be configured. The
/// server therefore hides the announced number from nghttp2. The delegate receives excess streams, up to
/// ``HTTP2Limits/streamsMax`` open streams, and decides about them.
public final class HTTP2Server: HTTP2Session {
    private var delegate: HTTP2ServerDelegate?
    /// Stream limits of SETTINGS frames that are not sent yet; nil for a frame without a limit.
    private var limitsUnsent: [UInt32?] = []
    /// Stream limits of SETTINGS frames that are not acknowledged yet; nil for a frame without a limit.
    private var limitsUnacknowledged: [UInt32?] = []
    /// The last stream limit sent to the client; nil if no limit was sent.
    public private(set) var announcedStreamsMax: Int?
    /// The last stream limit that the client has acknowledged; nil if the client has acknowledged no limit.
    public private(set) var acknowledgedStreamsMax: Int?
    private var isSendingSettings = false
    private var fields = FieldArray()
    private var hasClientBegun = false
    private var budget: InputBudget
    private var stall: OutputStall?
    private var isPaused = false
    private var isReadingPaused = false
    /// The scanner of header frames; nil unless the delegate wants header representations.
    private(set) var scanner: HeaderFrameScanner?

    /// Creates the server side of one connection.
    ///
    /// - Parameter delegate: retained until its `closed` was called.
    public init(
        loop: EventLoop, delegate: HTTP2ServerDelegate,
        settings: HTTP2Settings = HTTP2Settings(maxConcurrentStreams: 1000, initialWindowBytes: 65_535),
        limits: HTTP2Limits = HTTP2Limits(connectionWindowBytes: 16_777_216)
    ) {
        self.delegate = delegate
        limitsUnsent = [settings.maxConcurrentStreams]
        budget = InputBudget(
            framesMax: limits.idleFramesMax, framesPerSecond: limits.idleFramesPerSecondMax, now: loop.now.monotonic)
        scanner = delegate.wantsHeaderRepresentations ? HeaderFrameScanner() : nil
        super.init(loop: loop, settings: Self.withoutStreamLimit(settings), limits: limits, isServer: true)
    }

    /// Announces new settings. Until ``HTTP2ServerDelegate/connected()`` has returned, the new settings replace the
    /// initial settings.
    public func update(_ settings: HTTP2Settings) {
        loop.assertOnLoop()
        guard phase == .open || phase == .connecting else { return }
        guard openingSettings == nil else {
            openingSettings = Self.withoutStreamLimit(settings)
            limitsUnsent = [settings.maxConcurrentStreams]
            return
        }
        limitsUnsent.append(settings.maxConcurrentStreams)
        submit(Self.withoutStreamLimit(settings))
        requestFlush()
    }

    /// Sends the response to a request. If the body is empty, the header fields end the stream.
    ///
    /// - Parameters:
    ///   - status: 200 to 599.
    ///   - headers: the fields except `:status`.
    ///   - body: retained, not copied, until the stream has ended.
    public func respond(_ stream: HTTP2Stream, status: Int, headers: HeaderBlock = HeaderBlock(), body: [UInt8] = []) {
        loop.assertOnLoop()
        precondition((200..<600).contains(status), "status must be 200 to 599")
        guard phase == .open, streams.contains(stream) else { return }
        streams[stream].body = body
        streams[stream].bodyRest = body.indices
        let digits = [status / 100, status / 10 % 10, status % 10].map { UInt8(ascii: "0") + UInt8($0) }
        _ = fields.with(headers, status: digits) { fields, count in
            withUnsafePointer(to: SessionFactory.body(slot: stream.slot)) { source in
                nghttp2_submit_response(session, stream.id, fields, count, body.isEmpty ? nil : source)
            }
        }
        requestFlush()
    }

    /// Returns the settings with a stream limit that a client cannot exceed, for nghttp2.
    private static func withoutStreamLimit(_ settings: HTTP2Settings) -> HTTP2Settings {
        var relaxed = settings
        if relaxed.maxConcurrentStreams != nil { relaxed.maxConcurrentStreams = .max }
        return relaxed
    }

    /// Stops reading from the client until ``resumeReading()``. Flow control then stops the client.
    public func pauseReading() {
        loop.assertOnLoop()
        isReadingPaused = true
        updateReading()
    }

    public func resumeReading() {
        loop.assertOnLoop()
        isReadingPaused = false
        updateReading()
    }

    /// Pauses or resumes reading. Reading also pauses while the output is full, which bounds the memory of unread
    /// responses.
    private func updateReading() {
        let pauses = isReadingPaused || output.isFull
        guard let transport, pauses != isPaused else { return }
        isPaused = pauses
        if pauses { transport.pauseReading() } else { transport.resumeReading() }
    }

    override func sessionOpened() {
        delegate?.connected()
    }

    override func settingsWillBeSent() {
        isSendingSettings = true
    }

    override func append(_ bytes: UnsafeRawBufferPointer, to output: inout OutputBuffer) {
        guard isSendingSettings else { return super.append(bytes, to: &output) }
        isSendingSettings = false
        output.append(upTo: bytes.count) { space in
            space.copyMemory(from: bytes)
            announce(space)
            return bytes.count
        }
    }

    /// Records the next unsent stream limit as announced, and writes the limit into its SETTINGS frame.
    ///
    /// - Parameter bytes: the frame, modified in place.
    private func announce(_ bytes: UnsafeMutableRawBufferPointer) {
        guard !limitsUnsent.isEmpty else { return }
        let limit = limitsUnsent.removeFirst()
        limitsUnacknowledged.append(limit)
        guard let limit else { return }
        announcedStreamsMax = Int(limit)
        // A frame header of nine bytes, then entries of six bytes, each with identifier and value.
        for entry in stride(from: 9, to: bytes.count - 5, by: 6) {
            let id = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: entry, as: UInt16.self))
            guard id == UInt16(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue) else { continue }
            bytes.storeBytes(of: limit.bigEndian, toByteOffset: entry + 2, as: UInt32.self)
        }
    }

    override func settingsReceived(isAcknowledgment: Bool) {
        if !isAcknowledgment, !hasClientBegun {
            hasClientBegun = true
            delegate?.prefaceReceived()
        }
        guard isAcknowledgment, !limitsUnacknowledged.isEmpty else { return }
        if let limit = limitsUnacknowledged.removeFirst() { acknowledgedStreamsMax = Int(limit) }
        delegate?.settingsAcknowledged()
    }

    override func inputArrived(_ bytes: UnsafeRawBufferPointer) {
        budget.spend(bytes: bytes.count)
        scanner?.scan(bytes)
    }

    override func inputWasRead() {
        scanner?.pieceEnded()
        if budget.isSpent(at: loop.now.monotonic) { terminate(.enhanceYourCalm, debug: "excessive input") }
    }

    override func frameBegan() { budget.spendFrame() }

    override func endSent(slot: Int) {
        guard let stream = streams.stream(slot: slot) else { return }
        streams[stream].hasEnded = true
    }

    override func headersBegan(streamID: Int32, slot: Int) {
        scanner?.blockBegan(streamID: streamID)
        guard slot < 0 else {
            // Trailers of an open request.
            headerStream = streams.stream(slot: slot)
            return
        }
        headerStream = nil
        guard streamID <= lastStreamServed else { return }
        guard openStreams < limits.streamsMax else {
            nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, HTTP2ErrorCode.refusedStream.rawValue)
            return
        }
        let stream = streams.add(id: streamID)
        streams[stream].began = loop.now.monotonic
        nghttp2_session_set_stream_user_data(session, streamID, UnsafeMutableRawPointer(bitPattern: stream.slot + 1))
        headerStream = stream
        delegate?.requestBegan(stream, excess: excess)
    }

    /// The excess of the newest stream over the announced limit.
    private var excess: StreamExcess {
        guard let announced = announcedStreamsMax, openStreams > announced else { return .none }
        guard let acknowledged = acknowledgedStreamsMax, openStreams > acknowledged else { return .unacknowledged }
        return .acknowledged
    }

    override func headerReceived(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, neverIndexed: Bool
    ) -> Bool {
        let representation = scanner?.next() ?? HeaderRepresentation(neverIndexed ? .neverIndexed : nil)
        guard let stream = headerStream, streams.contains(stream) else { return true }
        streams[stream].headerBytes += name.count + value.count
        guard streams[stream].headerBytes <= limits.headerBytesMax else {
            reset(stream, .enhanceYourCalm)
            return false
        }
        delegate?.requestHeader(stream, name: name, value: value, representation: representation)
        return true
    }

    override func headerMalformed(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        _ = scanner?.next()
        guard let stream = headerStream, streams.contains(stream) else { return true }
        delegate?.requestHeaderMalformed(stream, name: name, value: value)
        return false
    }

    override func messageRefused(_ text: UnsafeRawBufferPointer) {
        guard let stream = headerStream, streams.contains(stream), let field = RefusedField(text) else { return }
        delegate?.requestHeaderMalformed(stream, name: field.name, value: field.loggableValue)
    }

    override func bodyReceived(slot: Int, _ bytes: UnsafeRawBufferPointer) {
        guard let stream = streams.stream(slot: slot) else { return }
        delegate?.requestBody(stream, bytes)
    }

    override func messageEnded(slot: Int) {
        guard let stream = streams.stream(slot: slot) else { return }
        delegate?.requestEnded(stream)
    }

    override func streamClosed(slot: Int, _ code: HTTP2ErrorCode) {
        guard let stream = streams.stream(slot: slot), let entry = streams.remove(stream) else { return }
        budget.streamEnded(
            wasAnswered: entry.hasEnded, wasRefused: code == .refusedStream, began: entry.began,
            at: loop.now.monotonic)
        if code == .protocolError, !entry.wasReset { delegate?.requestMalformed(stream) }
        delegate?.streamClosed(stream, code)
    }

    override func pingAcknowledged(_ number: UInt64) {
        delegate?.pingAcknowledged(number)
    }

    override func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
        delegate?.goAwayReceived(code, debug: debug)
    }

    override func outputChanged() {
        watchStall()
        updateReading()
    }

    /// Starts or stops the timer that aborts the connection if the transport does not accept the pending output in
    /// time.
    private func watchStall() {
        guard pendingOutputBytes > 0 else {
            if let stall { loop.cancel(stall.timer) }
            stall = nil
            return
        }
        guard stall == nil else { return }
        let timer = loop.schedule(after: .seconds(limits.outputStallSecondsMax)) { [weak self] in
            self?.stallTimedOut()
        }
        stall = OutputStall(position: outputPosition, timer: timer)
    }

    private func stallTimedOut() {
        guard let position = stall?.position else { return }
        stall = nil
        if wasWritten(position) { watchStall() } else { abort() }
    }

    override func sessionClosed(_ error: TransportError?) {
        if let stall { loop.cancel(stall.timer) }
        stall = nil
        let delegate = delegate
        self.delegate = nil
        delegate?.closed(error)
    }
}

/// Pending output that the transport has not accepted yet.
private struct OutputStall {
    /// The output position when the timer was started.
    var position: UInt64
    var timer: TimerToken
}
