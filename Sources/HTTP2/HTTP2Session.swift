internal import CNGHTTP2
public import EventLoop

/// The common base class of client and server, for one HTTP/2 connection over a byte stream.
///
/// nghttp2 parses the input. nghttp2 creates frames at the end of an event-loop iteration, or when the transport
/// accepts output again. The frames pass through one bounded buffer. Delegates are called when the connection opens or
/// ends, while input is parsed, and while frames are created. Delegates may call every method of the session, since
/// these methods only queue frames, request a flush, or reset the transport.
///
/// The transport retains the session until the connection has ended.
public class HTTP2Session: ByteStreamHandler {
    enum Phase {
        /// A session that is not connected yet. Next: `open`, `closing` or `closed`.
        case connecting
        case open
        /// A session whose transport is closing. Next: `closed`.
        case closing
        case closed
    }

    /// Maximum size of an input part that is parsed before the limits on input are checked.
    private static let inputBytesMax = 16_384

    public final let loop: EventLoop
    public final let limits: HTTP2Limits
    private let memory = SessionMemory()
    /// nghttp2's session, valid for the lifetime of this object.
    final let session: OpaquePointer
    final var streams = StreamTable()
    final private(set) var phase = Phase.connecting
    final private(set) var transport: ByteTransport?
    final private(set) var output: OutputBuffer
    /// Number of bytes of the frames created so far.
    final private(set) var outputPosition: UInt64 = 0
    /// The error because of which this side ends the connection. It takes precedence over the transport's error.
    private var failure: TransportError?
    private var goAwaySent = false
    /// The highest ID of the peer's streams that are served. Later streams are ignored, even if they arrive before
    /// GOAWAY is sent.
    final private(set) var lastStreamServed = Int32.max
    /// Number of submitted GOAWAY frames that are not sent yet.
    private var pendingGoAways = 0
    private var lingersAfterGoAway = false
    /// Whether the connection closes once its output is written. Further input is ignored.
    private var closesOnceWritten = false
    final private(set) var goAwayReceived = false
    /// The stream whose header block is being parsed.
    final var headerStream: HTTP2Stream?
    /// The contents of the first SETTINGS frame; nil once that frame was submitted.
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
        // The function only frees memory, and calls no callbacks.
        nghttp2_session_del(session)
    }

    /// Number of bytes that the transport has not accepted yet.
    public final var pendingOutputBytes: Int { output.count }

    public final var openStreams: Int { streams.count }

    /// Whether the connection is up and accepts new streams.
    public final var isOpen: Bool { phase == .open && !goAwaySent && !goAwayReceived }

    /// Opens the connection. The delegate's `connected` or `closed` follows. For a server, set the session as the
    /// handler of the accepted transport instead.
    public final func connect(through connector: ByteConnector) {
        loop.assertOnLoop()
        guard phase == .connecting, transport == nil else { return }
        transport = connector.connect(self)
    }

    /// Sends a PING. The peer's acknowledgment contains the same number.
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

    /// Sends a GOAWAY. This side's streams continue, and so do the peer's streams up to `lastStreamID` (by default the
    /// last received stream). Unless `lingers` is set, the connection closes when all streams have ended.
    ///
    /// - Parameters:
    ///   - lastStreamID: a stream ID of the peer, or 0. The value of an earlier GOAWAY is an upper bound.
    ///   - debug: debug data, shorter than a frame.
    ///   - lingers: whether to leave the connection open, without serving new streams, until the peer closes it.
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
        if result == 0 { pendingGoAways += 1 }
        requestFlush()
    }

    /// Resets a stream at the end of this event-loop iteration, even if a part of its body is unsent.
    public final func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        loop.assertOnLoop()
        guard phase == .open, streams.contains(stream) else { return }
        streams[stream].wasReset = true
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
        requestFlush()
    }

    /// Closes the connection after the pending output, without a GOAWAY. The delegate's `closed` is called later.
    public final func close() {
        loop.assertOnLoop()
        closesOnceWritten = true
        requestFlush()
    }

    /// Resets the transport and discards pending output. The delegate's `closed` is called later.
    public final func abort() {
        loop.assertOnLoop()
        guard phase != .closed else { return }
        phase = .closing
        transport?.reset()
    }

    /// Schedules a write of pending frames at the end of this event-loop iteration.
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
        // nghttp2 sends SETTINGS before pending HEADERS, regardless of the order of submission.
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
        let result = nghttp2_session_mem_recv(
            session, part.baseAddress?.assumingMemoryBound(to: UInt8.self), part.count)
        inputWasRead()
        guard result < 0 else { return }
        let error = nghttp2_error(Int32(clamping: result))
        let code: HTTP2ErrorCode =
            switch error {
            case NGHTTP2_ERR_BAD_CLIENT_MAGIC: .protocolError
            case NGHTTP2_ERR_NOMEM: .internalError
            default: .enhanceYourCalm
            }
        terminate(code, debug: String(cString: nghttp2_strerror(error.rawValue)))
    }

    /// Closes the connection with a GOAWAY because of a fault of the peer. Further input is ignored.
    ///
    /// - Parameter debug: debug data of the GOAWAY.
    public final func terminate(_ code: HTTP2ErrorCode, debug: String) {
        loop.assertOnLoop()
        guard phase == .open, !closesOnceWritten else { return }
        failure = failure ?? TransportError(.protocolViolation, "the peer violated HTTP/2: \(debug)")
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

    private func protocolViolated(_ reason: String) {
        failure = failure ?? TransportError(.protocolViolation, "cannot create an HTTP/2 frame: \(reason)")
        finish()
    }

    /// Closes the transport, which first sends the output that it has accepted.
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

    /// Whether the connection has nothing more to read or write, and may close.
    private var isDrained: Bool {
        guard nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 else { return false }
        return !lingersAfterGoAway || failure != nil
    }

    /// Lets nghttp2 create frames until the buffer is full. Returns true if no frames remain or nghttp2 failed.
    private func makeFrames() -> Bool {
        while !output.isFull {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            guard count != 0 else { return true }
            guard count > 0, let frame else {
                protocolViolated(String(cString: nghttp2_strerror(Int32(clamping: count))))
                return true
            }
            let before = output.count
            append(UnsafeRawBufferPointer(start: frame, count: count), to: &output)
            outputPosition += UInt64(output.count - before)
        }
        return false
    }

    /// Returns whether the transport has accepted all output up to a position.
    final func wasWritten(_ position: UInt64) -> Bool {
        position <= outputPosition - UInt64(output.count)
    }

    /// Handles input before nghttp2 parses it.
    func inputArrived(_ bytes: UnsafeRawBufferPointer) {}

    /// Handles the end of nghttp2's parsing of the input.
    func inputWasRead() {}

    func sessionOpened() {}

    func sessionClosed(_ error: TransportError?) {}

    /// Appends output of nghttp2. Subclasses may modify the output.
    func append(_ bytes: UnsafeRawBufferPointer, to output: inout OutputBuffer) { output.append(bytes) }

    /// Handles the arrival of the header of a frame of any type. Called in a server only.
    func frameBegan() {}

    /// Handles the sending of END_STREAM by this side.
    func endSent(slot: Int) {}

    /// Handles output that was created or written.
    func outputChanged() {}

    /// Handles the start of a header block. `slot` is -1 for an unknown stream.
    func headersBegan(streamID: Int32, slot: Int) {}

    /// Handles a header field. Returns false if the stream must be reset.
    func headerReceived(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, neverIndexed: Bool
    ) -> Bool { true }

    /// Handles a malformed field. Returns true to ignore the field, or false to reset the stream.
    func headerMalformed(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool { true }

    /// Handles, in a server, the text of the error because of which nghttp2 resets the stream whose header block is
    /// being parsed.
    func messageRefused(_ text: UnsafeRawBufferPointer) {}

    func bodyReceived(slot: Int, _ bytes: UnsafeRawBufferPointer) {}

    /// Handles the end of the peer's request or response. `slot` is -1 for an unknown stream.
    func messageEnded(slot: Int) {}

    /// Handles a table size in a SETTINGS frame. nghttp2 reports the smallest size first, then the final size.
    func headerTableLimited(to bytes: UInt32) {}

    func settingsReceived(isAcknowledgment: Bool) {}

    func pingAcknowledged(_ number: UInt64) {}

    func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}

    func settingsWillBeSent() {}

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
            settingsReceived(isAcknowledgment: header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0)
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
        case NGHTTP2_GOAWAY where pendingGoAways > 0:
            pendingGoAways -= 1
        case NGHTTP2_GOAWAY:
            // nghttp2 created this GOAWAY itself, because of a protocol violation by the peer.
            let code = HTTP2ErrorCode(rawValue: frame.pointee.goaway.error_code)
            failure = failure ?? TransportError(.protocolViolation, "the peer violated HTTP/2: \(code)")
        default:
            break
        }
    }

    /// Returns the slot of a stream, or -1 for an unknown stream. nghttp2 stores the slot plus 1, since 0 is a null
    /// pointer.
    final func slot(streamID: Int32) -> Int {
        Int(bitPattern: nghttp2_session_get_stream_user_data(session, streamID)) - 1
    }
}
