internal import CNGHTTP2
public import EventLoop

/// One HTTP/2 connection over a byte stream: what client and server side have in common.
///
/// nghttp2 is fed with what arrives, and asked for frames once at the end of each turn of the loop; the frames go through
/// one bounded buffer. Delegates are called while input is read or output is made, and may call every method of the
/// session from there, since none of them reads or writes: they note what is to be sent and ask for a flush.
///
/// The session keeps itself alive through its transport until the connection has ended.
public class HTTP2Session: ByteStreamHandler {
    enum Phase {
        /// Not connected yet; becomes `open` or `closed`.
        case connecting
        case open
        /// The last bytes are on their way; becomes `closed`.
        case closing
        case closed
    }

    /// Bytes of input that are read before it is judged what they were.
    private static let inputBytesMax = 16_384

    public final let loop: EventLoop
    public final let limits: HTTP2Limits
    private let memory = SessionMemory()
    /// nghttp2's session, valid as long as this object.
    final let session: OpaquePointer
    final var streams = StreamTable()
    final private(set) var phase = Phase.connecting
    final private(set) var transport: ByteTransport?
    final private(set) var output: OutputBuffer
    /// Bytes of frames made so far.
    final private(set) var outputPosition: UInt64 = 0
    /// Why the connection ends, when it is not the transport that says so.
    private var failure: TransportError?
    private var goAwaySent = false
    /// Of the peer's streams, the last that goes on: what has come behind it before a GOAWAY left is not to be served.
    final private(set) var lastStreamServed = Int32.max
    /// GOAWAY frames that were asked for and have not left.
    private var goAwaysWaiting = 0
    private var lingersAfterGoAway = false
    /// Nothing more is read.
    private var closesOnceWritten = false
    final private(set) var goAwayReceived = false
    /// The stream whose header block is being read.
    final var headerStream: HTTP2Stream?
    /// What the first SETTINGS frame says; nil once that was made.
    final var openingSettings: HTTP2Settings?

    init(loop: EventLoop, settings: HTTP2Settings, limits: HTTP2Limits, isServer: Bool) {
        self.loop = loop
        self.limits = limits
        session = SessionFactory.make(isServer: isServer, memory: memory)
        output = OutputBuffer(bytesMax: limits.outputBytesMax, initialCapacity: 16_384)
        super.init()
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        openingSettings = settings
        nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, limits.connectionWindowBytes)
    }

    deinit {
        // Gives back memory only; nghttp2 calls nothing here.
        nghttp2_session_del(session)
    }

    /// Bytes made and not yet taken by the transport.
    public final var outputWaiting: Int { output.count }

    /// Streams open now.
    public final var openStreams: Int { streams.count }

    /// Whether the connection is up and takes new work.
    public final var isOpen: Bool { phase == .open && !goAwaySent && !goAwayReceived }

    /// Opens the connection; its outcome arrives as `connected` or `closed`. A server's transport, which is there already,
    /// gets the session as its handler instead.
    public final func connect(through connector: ByteConnector) {
        loop.assertOnLoop()
        guard phase == .connecting, transport == nil else { return }
        transport = connector.connect(self)
    }

    /// Asks the peer for a sign of life; the answer carries the same number.
    public final func ping(_ number: UInt64) {
        loop.assertOnLoop()
        guard phase == .open else { return }
        var number = number.bigEndian
        withUnsafeBytes(of: &number) {
            _ = nghttp2_submit_ping(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        requestFlush()
    }

    /// Tells the peer that no more streams are taken. Streams up to `lastStreamID` (default: the last that was seen) go
    /// on; the connection closes when they have ended.
    ///
    /// - Parameters:
    ///   - lastStreamID: a number that the peer may use, or 0; lowered to what was sent before.
    ///   - debug: fewer bytes than a frame has.
    ///   - lingers: leave the connection open until the peer closes it, and all that comes on new streams unread.
    public final func goAway(
        _ code: HTTP2ErrorCode = .noError, lastStreamID: Int32? = nil, debug: [UInt8] = [], lingers: Bool = false
    ) {
        loop.assertOnLoop()
        guard phase == .open else { return }
        goAwaySent = true
        lingersAfterGoAway = lingers
        lastStreamServed = min(lastStreamServed, lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session))
        let result = nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStreamServed, code.rawValue, debug, debug.count)
        if result == 0 { goAwaysWaiting += 1 }
        requestFlush()
    }

    /// Ends a stream at once.
    public final func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        loop.assertOnLoop()
        guard phase == .open, streams.contains(stream) else { return }
        streams[stream].wasReset = true
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
        requestFlush()
    }

    /// Ends the connection without a word of HTTP/2, after what was made for the peer. The delegate's `closed` follows in a
    /// later call.
    public final func close() {
        loop.assertOnLoop()
        closesOnceWritten = true
        requestFlush()
    }

    /// Ends the connection without a word to the peer. The delegate's `closed` follows in a later call.
    public final func abort() {
        loop.assertOnLoop()
        guard phase != .closed else { return }
        phase = .closing
        transport?.reset()
    }

    /// Gives the frames that wait to the transport at the end of this turn.
    final func requestFlush() {
        loop.flushAfterIteration(self)
    }

    final func submit(_ settings: HTTP2Settings) {
        func submit(_ entries: (nghttp2_settings_id, UInt32?)...) {
            let present = entries.compactMap { id, value in
                value.map { nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: $0) }
            }
            nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), present, present.count)
        }
        submit(
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, settings.headerTableBytes),
            (NGHTTP2_SETTINGS_ENABLE_PUSH, nghttp2_session_check_server_session(session) == 0 ? 0 : nil),
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.maxConcurrentStreams),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.initialWindowBytes),
            (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, settings.maxFrameBytes),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings.maxHeaderListBytes))
    }

    public final override func connected(_ transport: ByteTransport) {
        loop.assertOnLoop()
        self.transport = transport
        guard phase == .connecting else { return transport.reset() }
        phase = .open
        requestFlush()
        sessionOpened()
        // SETTINGS go before all else that waits, whatever came first.
        if let settings = openingSettings { submit(settings) }
        openingSettings = nil
    }

    public final override func received(_ bytes: UnsafeRawBufferPointer) {
        loop.assertOnLoop()
        var rest = bytes[...]
        while phase == .open, !closesOnceWritten, !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.inputBytesMax))
            rest = rest.dropFirst(part.count)
            read(part)
        }
        requestFlush()
    }

    private func read(_ part: UnsafeRawBufferPointer) {
        inputArrived(part)
        let taken = nghttp2_session_mem_recv(
            session, part.baseAddress?.assumingMemoryBound(to: UInt8.self), part.count)
        inputWasRead()
        guard taken < 0 else { return }
        let error = nghttp2_error(Int32(clamping: taken))
        let code: HTTP2ErrorCode =
            switch error {
            case NGHTTP2_ERR_BAD_CLIENT_MAGIC: .protocolError
            case NGHTTP2_ERR_NOMEM: .internalError
            default: .enhanceYourCalm
            }
        terminate(code, debug: String(cString: nghttp2_strerror(error.rawValue)))
    }

    /// Ends the connection for what the peer has done; nothing that it sends is looked at any more.
    ///
    /// - Parameter debug: told to the peer.
    public final func terminate(_ code: HTTP2ErrorCode, debug: String) {
        loop.assertOnLoop()
        guard phase == .open, !closesOnceWritten else { return }
        failure = failure ?? TransportError(.protocolViolation, "the peer broke the rules of HTTP/2: \(debug)")
        goAway(code, debug: Array(debug.utf8))
        closesOnceWritten = true
    }

    public final override func peerFinished() {
        loop.assertOnLoop()
        if phase == .open {
            if streams.count > 0 || !(goAwayReceived || goAwaySent) {
                failure = failure ?? TransportError(.reset, "the peer closed the connection")
            }
            finish()
        }
    }

    public final override func closed(_ error: TransportError?) {
        loop.assertOnLoop()
        guard phase != .closed else { return }
        phase = .closed
        transport = nil
        sessionClosed(failure ?? error)
    }

    private func peerBroke(_ what: String) {
        failure = failure ?? TransportError(.protocolViolation, "the peer broke the rules of HTTP/2: \(what)")
        finish()
    }

    /// Closes once what the transport took has been sent.
    private func finish() {
        phase = .closing
        transport?.close()
    }

    public final override func flush() { writeOut() }

    public final override func writable() { writeOut() }

    private func writeOut() {
        loop.assertOnLoop()
        guard let transport else { return }
        while phase == .open {
            let isDry = makeFrames()
            guard output.write(to: transport) else { break }
            guard isDry else { continue }
            if closesOnceWritten || isDrained { finish() }
            break
        }
        outputChanged()
    }

    /// Nothing more is to be read or written.
    private var isDrained: Bool {
        guard nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 else { return false }
        return !lingersAfterGoAway || failure != nil
    }

    /// Has nghttp2 make frames until there are no more or the buffer is full; whether there are no more.
    private func makeFrames() -> Bool {
        while !output.isFull {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            guard count != 0 else { return true }
            guard count > 0, let frame else {
                peerBroke(String(cString: nghttp2_strerror(Int32(clamping: count))))
                return true
            }
            let before = output.count
            append(UnsafeRawBufferPointer(start: frame, count: count), to: &output)
            outputPosition += UInt64(output.count - before)
        }
        return false
    }

    /// Whether everything up to an output position was taken by the transport.
    final func wasWritten(_ position: UInt64) -> Bool {
        position <= outputPosition - UInt64(output.count)
    }

    /// Bytes came which nghttp2 reads next.
    func inputArrived(_ bytes: UnsafeRawBufferPointer) {}

    /// nghttp2 has read what came.
    func inputWasRead() {}

    func sessionOpened() {}

    func sessionClosed(_ error: TransportError?) {}

    /// Bytes of frames leave as nghttp2 has made them, or as the session would have them.
    func append(_ bytes: UnsafeRawBufferPointer, to output: inout OutputBuffer) { output.append(bytes) }

    /// A frame's header has come, of whatever type.
    func frameBegan() {}

    /// This side has ended its direction of a stream.
    func endSent(slot: Int) {}

    /// After output was made or written.
    func outputChanged() {}

    func headersBegan(streamID: Int32, slot: Int) {}

    /// Whether the stream goes on.
    func headerReceived(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, neverIndexed: Bool
    ) -> Bool { true }

    /// A field came that no message may have; whether the message goes on without it, or the stream is reset.
    func headerMalformed(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool { true }

    /// Why nghttp2 resets the stream whose header block it reads.
    func messageRefused(_ words: UnsafeRawBufferPointer) {}

    func bodyReceived(slot: Int, _ bytes: UnsafeRawBufferPointer) {}

    /// A whole frame came; `slot` is -1 when it belongs to no stream that is known.
    /// The peer has sent the last frame of its request or response.
    func messageEnded(slot: Int) {}

    /// Of a SETTINGS frame the smallest first, then what holds.
    func headerTableLimited(to bytes: UInt32) {}

    func settingsReceived(isAcknowledgement: Bool) {}

    func pingAcknowledged(_ number: UInt64) {}

    func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    func settingsAboutToLeave() {}

    func streamClosed(slot: Int, _ code: HTTP2ErrorCode) {}

    final func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = UnsafeRawPointer(frame).assumingMemoryBound(to: nghttp2_frame_hd.self).pointee
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            guard header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
            messageEnded(slot: slot(streamID: header.stream_id))
        case NGHTTP2_SETTINGS:
            let settings = UnsafeBufferPointer(start: frame.pointee.settings.iv, count: frame.pointee.settings.niv)
            for entry in settings where entry.settings_id == Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue) {
                headerTableLimited(to: entry.value)
            }
            settingsReceived(isAcknowledgement: header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0)
        case NGHTTP2_PING where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0:
            let data = frame.pointee.ping.opaque_data
            pingAcknowledged(UInt64(bigEndian: withUnsafeBytes(of: data) { $0.loadUnaligned(as: UInt64.self) }))
        case NGHTTP2_RST_STREAM:
            if let stream = streams.stream(slot: slot(streamID: header.stream_id)) { streams[stream].wasReset = true }
        case NGHTTP2_GOAWAY:
            goAwayReceived = true
            let goAway = frame.pointee.goaway
            goAwayReceived(
                lastStreamID: goAway.last_stream_id, HTTP2ErrorCode(rawValue: goAway.error_code),
                debug: UnsafeRawBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len))
        default:
            break
        }
    }

    final func frameSent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = UnsafeRawPointer(frame).assumingMemoryBound(to: nghttp2_frame_hd.self).pointee
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            let slot = slot(streamID: header.stream_id)
            if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { endSent(slot: slot) }
        case NGHTTP2_GOAWAY where goAwaysWaiting > 0:
            goAwaysWaiting -= 1
        case NGHTTP2_GOAWAY:
            // Not asked for by us, so nghttp2 found the peer at fault.
            let code = HTTP2ErrorCode(rawValue: frame.pointee.goaway.error_code)
            failure = failure ?? TransportError(.protocolViolation, "the peer broke the rules of HTTP/2: \(code)")
        default:
            break
        }
    }

    /// The slot that nghttp2 keeps for a stream, or -1. Slots are kept as their index + 1, so that none is nil.
    final func slot(streamID: Int32) -> Int {
        Int(bitPattern: nghttp2_session_get_stream_user_data(session, streamID)) - 1
    }
}
