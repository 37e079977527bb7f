internal import CNGHTTP2
public import EventLoop

/// The client side of an HTTP/2 connection.
///
///     let client = HTTP2Client(loop: loop, delegate: delegate)
///     client.connect(through: connector)
public final class HTTP2Client: HTTP2Session {
    private var delegate: HTTP2ClientDelegate?
    private var encoder = HeaderEncoder()
    private var unsent = UnsentHeaders()
    /// The peer's settings; nil before the peer's first SETTINGS. A limit of nil means that the peer sets no limit. The
    /// maximum frame size is not recorded.
    public private(set) var peerSettings: HTTP2Settings?

    /// Creates a client, which `connect(through:)` opens.
    ///
    /// - Parameter delegate: retained until its `closed` was called.
    public init(
        loop: EventLoop, delegate: HTTP2ClientDelegate,
        settings: HTTP2Settings = HTTP2Settings(headerTableBytes: 4096, maxHeaderListBytes: 16_384),
        limits: HTTP2Limits = HTTP2Limits()
    ) {
        self.delegate = delegate
        super.init(loop: loop, settings: settings, limits: limits, isServer: false)
    }

    /// Number of streams that may be opened now within the configured limit and the peer's limit. Before the
    /// peer's SETTINGS, its limit counts as 1. The number is 0 if the connection is not open or accepts no more
    /// requests.
    public var streamsFree: Int {
        guard isOpen, nghttp2_session_check_request_allowed(session) != 0 else { return 0 }
        let announced = peerSettings.map { $0.maxConcurrentStreams.map { Int($0) } ?? .max } ?? 1
        return max(0, min(announced, limits.streamsMax) - openStreams)
    }

    /// Sends a request at the end of this event-loop iteration.
    ///
    /// - Parameters:
    ///   - headers: all fields, pseudo-header fields first. The method must not be HEAD or CONNECT, whose responses are
    ///     parsed differently. If a stream is returned, the fields are consumed, and the block is empty. A request
    ///     whose header block may exceed a frame, 16 KiB, ends unsent.
    ///   - body: retained, not copied, until the stream has ended.
    ///   - range: the part of the body to send; nil means the whole body.
    /// - Returns: the stream, whose end is reported to the delegate exactly once. Nil if no stream is free
    ///   (``streamsFree``), or if nghttp2 fails.
    public func request(_ headers: inout HeaderBlock, body: [UInt8] = [], range: Range<Int>? = nil) -> HTTP2Stream? {
        loop.assertOnLoop()
        guard streamsFree > 0 else { return nil }
        let range = range ?? body.indices
        precondition(range.upperBound <= body.count, "the body range is out of bounds")
        let id = nghttp2_session_get_next_stream_id(session)
        guard let id = Int32(exactly: id) else { return nil }
        let stream = streams.add(id: id, body: body, range: range)
        // nghttp2 opens the stream and creates an empty HEADERS frame. `append(_:to:)` inserts the header block into
        // this frame.
        let submitted = withUnsafePointer(to: SessionFactory.body(slot: stream.slot)) { source in
            nghttp2_submit_request(
                session, nil, nil, 0, range.isEmpty ? nil : source,
                UnsafeMutableRawPointer(bitPattern: stream.slot + 1))
        }
        guard submitted == id else {
            _ = streams.remove(stream)
            return nil
        }
        if HeaderEncoder.bytesMax(of: headers) <= HeadersFrame.blockBytesMax {
            unsent.add(&headers, streamID: id)
        } else {
            // The header block may exceed one frame. Reset the stream before anything is sent.
            reset(stream, .internalError)
            headers.removeAll()
        }
        requestFlush()
        return stream
    }

    /// Returns the progress of sending an open stream's request; nil if the stream has ended.
    public func progress(of stream: HTTP2Stream) -> RequestProgress? {
        loop.assertOnLoop()
        guard streams.contains(stream) else { return nil }
        guard let headersEnd = streams[stream].headersEnd, streams[stream].bodyRest.isEmpty else { return .incomplete }
        return wasWritten(headersEnd) ? .written : .buffered
    }

    override func append(_ bytes: UnsafeRawBufferPointer, to output: inout OutputBuffer) {
        guard let streamID = HeadersFrame.streamID(of: bytes) else { return super.append(bytes, to: &output) }
        let before = output.count
        unsent.consume(streamID: streamID) { block in
            HeadersFrame.append(bytes, to: &output, bytesMax: HeaderEncoder.bytesMax(of: block)) {
                encoder.write(block, to: $0)
            }
        }
        guard let stream = streams.stream(slot: slot(streamID: streamID)) else { return }
        streams[stream].headersEnd = outputPosition + UInt64(output.count - before)
    }

    override func sessionOpened() {
        delegate?.connected()
    }

    override func headerTableLimited(to bytes: UInt32) { encoder.limitTable(to: bytes) }

    override func settingsReceived(isAcknowledgment: Bool) {
        guard !isAcknowledgment else { return }
        func value(_ id: nghttp2_settings_id) -> UInt32 { nghttp2_session_get_remote_settings(session, id) }
        func limit(_ value: UInt32) -> UInt32? { value == .max ? nil : value }
        let settings = HTTP2Settings(
            maxConcurrentStreams: limit(value(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)),
            initialWindowBytes: value(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE),
            headerTableBytes: value(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE),
            maxHeaderListBytes: limit(value(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE)))
        peerSettings = settings
        delegate?.settingsReceived(settings)
    }

    override func headersBegan(streamID: Int32, slot: Int) {
        headerStream = streams.stream(slot: slot)
        if let headerStream { delegate?.headersBegan(headerStream) }
    }

    override func headerReceived(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, neverIndexed: Bool
    ) -> Bool {
        guard let stream = headerStream, streams.contains(stream) else { return true }
        streams[stream].hasResponse = true
        if name.first == UInt8(ascii: ":") {
            // nghttp2 accepts only `:status` with three digits.
            delegate?.responseStatus(stream, value.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) })
            return true
        }
        streams[stream].headerBytes += name.count + value.count
        if streams[stream].headerBytes <= limits.headerBytesMax {
            delegate?.responseHeader(stream, name: name, value: value)
        }
        return true
    }

    override func bodyReceived(slot: Int, _ bytes: UnsafeRawBufferPointer) {
        guard let stream = streams.stream(slot: slot) else { return }
        let room = limits.responseBodyBytesMax - streams[stream].bodyBytes
        guard room > 0 else { return }
        streams[stream].bodyBytes += bytes.count
        delegate?.responseBody(stream, UnsafeRawBufferPointer(rebasing: bytes[..<min(room, bytes.count)]))
    }

    override func messageEnded(slot: Int) {
        guard let stream = streams.stream(slot: slot) else { return }
        streams[stream].hasEnded = true
    }

    override func streamClosed(slot: Int, _ code: HTTP2ErrorCode) {
        guard let stream = streams.stream(slot: slot), let entry = streams.remove(stream) else { return }
        if streams.count == 0 { unsent.removeAll() }
        let end: StreamEnd
        if entry.hasEnded && code == .noError {
            end = .complete
        } else if entry.headersEnd == nil || code == .refusedStream && !entry.hasResponse {
            end = .refusedUnprocessed
        } else {
            end = .reset(code)
        }
        delegate?.streamEnded(stream, end)
    }

    override func pingAcknowledged(_ number: UInt64) {
        delegate?.pingAcknowledged(number)
    }

    override func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
        delegate?.goAwayReceived(lastStreamID: lastStreamID, code, debug: debug)
    }

    override func sessionClosed(_ error: TransportError?) {
        unsent = UnsentHeaders()
        for slot in streams.entries.indices {
            guard let stream = streams.stream(slot: slot), let entry = streams.remove(stream) else { continue }
            // The peer cannot have processed a request whose frames were not all created, or whose header block was not
            // written.
            let mayHaveArrived = entry.bodyRest.isEmpty && (entry.headersEnd.map { wasWritten($0) } ?? false)
            delegate?.streamEnded(stream, mayHaveArrived ? .connectionLost : .refusedUnprocessed)
        }
        let delegate = delegate
        self.delegate = nil
        delegate?.closed(error)
    }
}
