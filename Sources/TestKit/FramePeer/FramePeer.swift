public import EventLoop

/// One end of an HTTP/2 connection that a test writes frame by frame, or byte by byte, and whose peer's frames it reads
/// as values. Does nothing of itself, but for what it is told to in ``Manners``. Works over every transport.
public final class FramePeer: ByteStreamHandler {
    /// What it does without being told.
    public struct Manners: Sendable {
        /// Sent as soon as the connection is up.
        public var greeting: [UInt8]
        public var acknowledgesSettings: Bool
        public var answersPings: Bool
        /// Whether it gives back the room that DATA took up.
        public var opensWindows: Bool
        /// Whether it keeps the frames; turned off for floods.
        public var keepsFrames: Bool

        public init(
            greeting: [UInt8] = HTTP2Frame.preface + HTTP2Frame.settings().bytes, acknowledgesSettings: Bool = false,
            answersPings: Bool = false, opensWindows: Bool = false, keepsFrames: Bool = true
        ) {
            self.greeting = greeting
            self.acknowledgesSettings = acknowledgesSettings
            self.answersPings = answersPings
            self.opensWindows = opensWindows
            self.keepsFrames = keepsFrames
        }

        /// A client that keeps to the rules.
        public static let good = Manners(acknowledgesSettings: true, answersPings: true, opensWindows: true)
        /// Opens the connection and says nothing.
        public static let silent = Manners(greeting: [])
    }

    public private(set) var transport: ByteTransport?
    /// All that came, in order.
    public private(set) var frames: [HTTP2Frame] = []
    public private(set) var framesReceived = 0
    private var answers: [UInt32: WireAnswer] = [:]
    /// Whether the peer has said that it sends no more.
    public private(set) var isFinished = false
    public private(set) var isClosed = false
    /// Why the connection ended; nil when in order, or when it has not.
    public private(set) var error: TransportError?
    /// Called after each frame, and when the connection ends.
    public var onEvent: (FramePeer) -> Void = { _ in }

    private let manners: Manners
    private var reader = HPACKReader()
    private var unread: [UInt8] = []
    private var unwritten = OutputBuffer(bytesMax: .max)
    private var nextStream: UInt32 = 1

    public init(_ manners: Manners = Manners()) {
        self.manners = manners
        super.init()
    }

    /// Bytes that the transport has not taken yet.
    public var bytesUnwritten: Int { unwritten.count }

    /// What came on a stream so far.
    public subscript(stream: UInt32) -> WireAnswer { answers[stream] ?? WireAnswer() }

    /// The frames as they read in a transcript.
    public var transcript: [String] { frames.map(\.description) }

    /// A stream id that was not used yet.
    public func newStream() -> UInt32 {
        defer { nextStream += 2 }
        return nextStream
    }

    public func send(_ frames: HTTP2Frame...) { write(frames.flatMap(\.bytes)) }

    /// Sends a request as one HEADERS frame with literal fields, and its body in DATA frames; its stream,
    /// which is a new one if none is given.
    @discardableResult
    public func request(_ fields: [(String, String)], body: [UInt8] = [], on stream: UInt32? = nil) -> UInt32 {
        let stream = stream ?? newStream()
        send(.headers(stream, HPACKWriter.block(fields), endsStream: body.isEmpty))
        for start in stride(from: 0, to: body.count, by: HTTP2Frame.payloadBytesMax) {
            let end = min(start + HTTP2Frame.payloadBytesMax, body.count)
            send(.data(stream, Array(body[start..<end]), ends: end == body.count))
        }
        return stream
    }

    /// Sends bytes; what the transport does not take waits until it does.
    public func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { unwritten.append($0) }
        drain()
    }

    /// Reads no more until ``resumeReading()``.
    public func pauseReading() { transport?.pauseReading() }

    public func resumeReading() { transport?.resumeReading() }

    /// Ends the connection in order.
    public func close() { transport?.close() }

    /// Ends it at once.
    public func reset() { transport?.reset() }

    private func drain() {
        guard let transport else { return }
        _ = unwritten.write(to: transport)
    }

    public override func connected(_ transport: ByteTransport) {
        self.transport = transport
        write(manners.greeting)
    }

    public override func writable() { drain() }

    public override func received(_ bytes: UnsafeRawBufferPointer) {
        unread += bytes
        var start = 0
        while let frame = nextFrame(&start) { take(frame) }
        unread.removeFirst(start)
    }

    private func nextFrame(_ start: inout Int) -> HTTP2Frame? {
        let rest = unread[start...]
        guard rest.count >= HTTP2Frame.headerByteCount else { return nil }
        let header = Array(rest.prefix(HTTP2Frame.headerByteCount))
        let count = Int(UInt32(bigEndianBytes: header[..<3]))
        guard rest.count >= HTTP2Frame.headerByteCount + count else { return nil }
        start += HTTP2Frame.headerByteCount + count
        return HTTP2Frame(
            type: header[3], flags: header[4], stream: UInt32(bigEndianBytes: header[5...]) & 0x7FFF_FFFF,
            payload: Array(rest.dropFirst(HTTP2Frame.headerByteCount).prefix(count)))
    }

    private func take(_ frame: HTTP2Frame) {
        framesReceived += 1
        if manners.keepsFrames { frames.append(frame) }
        switch frame.type {
        case HTTP2Frame.Kind.settings where !frame.has(HTTP2Frame.Flag.acknowledgement) && manners.acknowledgesSettings:
            send(.settingsAcknowledgement)
        case HTTP2Frame.Kind.ping where !frame.has(HTTP2Frame.Flag.acknowledgement) && manners.answersPings:
            send(HTTP2Frame(type: HTTP2Frame.Kind.ping, flags: HTTP2Frame.Flag.acknowledgement, payload: frame.payload))
        case HTTP2Frame.Kind.data where manners.opensWindows && !frame.payload.isEmpty:
            send(.windowUpdate(by: UInt32(frame.payload.count)))
        default: break
        }
        if frame.stream > 0 { addToAnswer(frame) }
        onEvent(self)
    }

    private func addToAnswer(_ frame: HTTP2Frame) {
        var answer = answers[frame.stream] ?? WireAnswer()
        let name: String
        switch frame.type {
        case HTTP2Frame.Kind.headers:
            name = "HEADERS"
            // Servers of ours make blocks that fit into one frame.
            answer.headers += (try? reader.read(frame.payload)) ?? [("malformed", "header block")]
        case HTTP2Frame.Kind.data:
            name = "DATA"
            answer.body += frame.payload
        case HTTP2Frame.Kind.resetStream:
            name = "RST_STREAM"
            answer.resetCode = UInt32(bigEndianBytes: frame.payload.prefix(4))
        case HTTP2Frame.Kind.windowUpdate: return
        default: name = "type \(frame.type)"
        }
        answer.frames.append(name + (frame.isEndOfStream ? " end_stream" : ""))
        if frame.isEndOfStream || frame.type == HTTP2Frame.Kind.resetStream { answer.isComplete = true }
        answers[frame.stream] = answer
    }

    public override func peerFinished() {
        isFinished = true
        transport?.close()
    }

    public override func closed(_ error: TransportError?) {
        isClosed = true
        self.error = error
        transport = nil
        onEvent(self)
        onEvent = { _ in }
    }
}
