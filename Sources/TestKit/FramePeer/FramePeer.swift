public import EventLoop

/// One end of an HTTP/2 connection that a test controls frame by frame, or byte by byte.
///
/// The peer stores received frames as values. On its own, it acts only as ``Behavior`` defines, and closes the
/// connection when the other end has finished writing. It works over every transport.
public final class FramePeer: ByteStreamHandler {
    /// The actions that the peer performs on its own.
    public struct Behavior: Sendable {
        /// The bytes to send when the connection is established.
        public var greeting: [UInt8]
        public var acknowledgesSettings: Bool
        public var answersPings: Bool
        /// Whether the peer opens the connection's flow-control window after each DATA frame.
        public var opensWindows: Bool
        /// Whether the peer stores received frames. Set to false for floods.
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

        /// A conforming client.
        public static let good = Behavior(acknowledgesSettings: true, answersPings: true, opensWindows: true)
        /// A client that connects and sends nothing.
        public static let silent = Behavior(greeting: [])
    }

    public private(set) var transport: ByteTransport?
    /// The received frames, in order; empty if the peer does not store frames.
    public private(set) var frames: [HTTP2Frame] = []
    public private(set) var framesReceived = 0
    private var answers: [UInt32: WireAnswer] = [:]
    /// Whether the other end has finished writing.
    public private(set) var isFinished = false
    public private(set) var isClosed = false
    /// The error that ended the connection; nil while the connection is open, and after a close without an error.
    public private(set) var error: TransportError?
    /// The closure that is called after each received frame, and when the connection ends.
    public var onEvent: (FramePeer) -> Void = { _ in }

    private let behavior: Behavior
    private var reader = HPACKReader()
    private var unread: [UInt8] = []
    private var unwritten = OutputBuffer(bytesMax: .max)
    private var nextStream: UInt32 = 1

    public init(_ behavior: Behavior = Behavior()) {
        self.behavior = behavior
        super.init()
    }

    /// The number of bytes that the transport has not accepted yet.
    public var bytesUnwritten: Int { unwritten.count }

    /// The response received on a stream so far.
    public subscript(stream: UInt32) -> WireAnswer { answers[stream] ?? WireAnswer() }

    /// The received frames in transcript form.
    public var transcript: [String] { frames.map(\.description) }

    /// Returns an unused stream ID.
    public func newStream() -> UInt32 {
        defer { nextStream += 2 }
        return nextStream
    }

    public func send(_ frames: HTTP2Frame...) { write(frames.flatMap(\.bytes)) }

    /// Sends a request as one HEADERS frame with literal fields, and its body in DATA frames.
    ///
    /// - Parameter stream: The stream ID; nil for a new stream.
    /// - Returns: The stream ID.
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

    /// Sends bytes. Buffers the bytes that the transport does not accept immediately.
    public func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { unwritten.append($0) }
        drain()
    }

    /// Stops reading until ``resumeReading()``.
    public func pauseReading() { transport?.pauseReading() }

    public func resumeReading() { transport?.resumeReading() }

    /// Closes the connection without an error.
    public func close() { transport?.close() }

    /// Aborts the connection immediately.
    public func reset() { transport?.reset() }

    private func drain() {
        guard let transport else { return }
        _ = unwritten.write(to: transport)
    }

    public override func connected(_ transport: ByteTransport) {
        self.transport = transport
        write(behavior.greeting)
    }

    public override func writable() { drain() }

    public override func received(_ bytes: UnsafeRawBufferPointer) {
        unread += bytes
        var start = 0
        while let frame = nextFrame(&start) { receive(frame) }
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

    private func receive(_ frame: HTTP2Frame) {
        framesReceived += 1
        if behavior.keepsFrames { frames.append(frame) }
        switch frame.type {
        case HTTP2Frame.Kind.settings
        where !frame.has(HTTP2Frame.Flag.acknowledgment) && behavior.acknowledgesSettings:
            send(.settingsAcknowledgment)
        case HTTP2Frame.Kind.ping where !frame.has(HTTP2Frame.Flag.acknowledgment) && behavior.answersPings:
            send(HTTP2Frame(type: HTTP2Frame.Kind.ping, flags: HTTP2Frame.Flag.acknowledgment, payload: frame.payload))
        case HTTP2Frame.Kind.data where behavior.opensWindows && !frame.payload.isEmpty:
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
            // The header blocks of the tested servers always fit into one frame.
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
