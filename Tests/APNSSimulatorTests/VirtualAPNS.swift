import APNSProtocol
import EventLoop
import HTTP2

@testable import APNSSimulator

/// A simulator on virtual time without TLS, and connections of providers.
final class VirtualAPNS {
    static let endpoint = Endpoint(host: "api.sandbox.push.apple.com", port: 443)

    let loop: VirtualLoop
    let server: SimulatorServer
    let provider: Provider
    let token: String

    init(
        seed: UInt64 = 1, service: Service = .sandboxPush,
        _ configure: (inout SimulatorConfiguration, inout SimulatorState) -> Void = { _, _ in }
    ) throws {
        loop = VirtualLoop(seed: seed)
        provider = try Provider()
        var configuration = SimulatorConfiguration()
        var state = try provider.state()
        configure(&configuration, &state)
        let issuedAt = loop.now.unixSeconds
        token = try provider.token(claims: #"{"iss":"\#(provider.teamID)","iat":\#(issuedAt)}"#)
        server = SimulatorServer(loop: loop, configuration: configuration, state: state)
        try loop.enter { _ = try server.listen(on: Self.endpoint, as: service) }
    }

    deinit { loop.end() }

    /// Opens a connection with the project's HTTP/2 client.
    func connect() -> ProviderClient {
        loop.enter {
            let client = ProviderClient(token: token)
            client.session = HTTP2Client(loop: loop, delegate: client)
            _ = loop.connect(to: Self.endpoint, handler: client.session)
            return client
        }
    }

    /// Opens a connection for handwritten frames.
    func connectRaw() -> RawClient {
        loop.enter {
            let client = RawClient(token: token)
            _ = loop.connect(to: Self.endpoint, handler: client)
            return client
        }
    }

    var requests: [LoggedRequest] { loop.enter { server.memory.requests().requests } }

    /// Runs the loop until it is idle, for at most an hour of virtual time.
    func settle() { _ = loop.run(limit: .seconds(3600), until: { false }) }

    func run(until isDone: () -> Bool) -> Bool { loop.run(limit: .seconds(3600), until: isDone) == .done }
}

/// A provider's client that records answers, settings, GOAWAY frames and the end of its connection.
class ProviderClient: HTTP2ClientDelegate {
    struct Answer: Equatable {
        var status = 0
        var headers: [String: String] = [:]
        var body = ""
        var end: StreamEnd?
    }

    let token: String
    var session: HTTP2Client!
    /// Answers by stream identifier.
    var answers: [Int32: Answer] = [:]
    /// MAX_CONCURRENT_STREAMS of each received SETTINGS frame.
    var streamsMax: [UInt32?] = []
    var goAways: [String] = []
    var isClosed = false

    init(token: String) { self.token = token }

    /// Sends a push. Returns the stream of the push; nil if no stream is free.
    @discardableResult
    func push(
        to deviceToken: String = Conversation.deviceToken, id: String?, body: String = #"{"aps":{"alert":"Hi"}}"#
    ) -> HTTP2Stream? {
        var headers = HeaderBlock()
        headers.append(":method", "POST")
        headers.append(":scheme", "https")
        headers.append(name: ":path", value: "/3/device/\(deviceToken)", indexing: .never)
        headers.append(":authority", "api.sandbox.push.apple.com")
        headers.append(name: "authorization", value: "bearer \(token)", indexing: .never)
        headers.append("apns-topic", "com.example.app")
        headers.append("apns-push-type", "alert")
        if let id { headers.append(name: "apns-id", value: id, indexing: .never) }
        return session.request(&headers, body: Array(body.utf8))
    }

    override func settingsReceived(_ settings: HTTP2Settings) { streamsMax.append(settings.maxConcurrentStreams) }
    override func responseStatus(_ stream: HTTP2Stream, _ status: Int) {
        answers[stream.id, default: Answer()].status = status
    }
    override func responseHeader(_ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        answers[stream.id, default: Answer()].headers[String(decoding: name, as: UTF8.self)] =
            String(decoding: value, as: UTF8.self)
    }
    override func responseBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {
        answers[stream.id, default: Answer()].body += String(decoding: bytes, as: UTF8.self)
    }
    override func streamEnded(_ stream: HTTP2Stream, _ end: StreamEnd) {
        answers[stream.id, default: Answer()].end = end
    }
    override func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
        goAways.append("\(lastStreamID) \(code) \(String(decoding: debug, as: UTF8.self))")
    }
    override func closed(_ error: TransportError?) { isClosed = true }
}

/// A client that sends arbitrary frames, and records the received frames.
final class RawClient: ByteStreamHandler {
    let token: String
    private(set) var transport: ByteTransport?
    /// Received DATA, HEADERS, RST_STREAM, SETTINGS and GOAWAY frames, for example `SETTINGS streams=1`, `HEADERS 1
    /// end`, `RST_STREAM 3 7`, `GOAWAY 0 text`. Acknowledgments of SETTINGS are omitted.
    private(set) var frames: [String] = []
    private(set) var isClosed = false
    private var unread: [UInt8] = []

    init(token: String) {
        self.token = token
        super.init()
    }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
        write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        write(frame(type: 4))
    }

    /// Sends a push. Each header is a literal without indexing. If `body` is nil, the stream stays open.
    func push(stream: UInt32, id: String, _ more: [(String, String)] = [], body: String? = #"{"aps":{}}"#) {
        let headers =
            [
                (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(Conversation.deviceToken)"),
                (":authority", "api.sandbox.push.apple.com"), ("authorization", "bearer \(token)"),
                ("apns-topic", "com.example.app"), ("apns-id", id),
            ] + more
        write(frame(type: 1, flags: 0x4, stream: stream, headers.flatMap { literal($0.0, $0.1) }))
        if let body { write(frame(type: 0, flags: 0x1, stream: stream, Array(body.utf8))) }
    }

    func acknowledgeSettings() { write(frame(type: 4, flags: 0x1)) }

    func reset(stream: UInt32) { write(frame(type: 3, stream: stream, [0, 0, 0, 8])) }

    func write(_ bytes: [UInt8]) {
        let written = bytes.withUnsafeBytes { transport?.write($0) }
        precondition(written == bytes.count, "the test writes more than the virtual network's window")
    }

    private func frame(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let count = UInt32(payload.count)
        let header =
            [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
        return header + payload
    }

    private func literal(_ name: String, _ value: String) -> [UInt8] {
        func text(_ text: String) -> [UInt8] {
            let count = text.utf8.count
            // HPACK integers with a prefix of seven bits.
            guard count >= 127 else { return [UInt8(count)] + text.utf8 }
            var rest = count - 127
            var bytes: [UInt8] = [127]
            while rest >= 128 {
                bytes.append(UInt8(rest & 127 | 128))
                rest >>= 7
            }
            return bytes + [UInt8(rest)] + text.utf8
        }
        return [0] + text(name) + text(value)
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        unread += bytes
        while unread.count >= 9 {
            let count = Int(unread[0]) << 16 | Int(unread[1]) << 8 | Int(unread[2])
            guard unread.count >= 9 + count else { return }
            record(type: unread[3], flags: unread[4], stream: word(unread[5..<9]), Array(unread[9..<(9 + count)]))
            unread.removeFirst(9 + count)
        }
    }

    private func record(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) {
        switch type {
        case 0:
            frames.append("DATA \(stream) \(String(decoding: payload, as: UTF8.self))\(flags & 1 == 1 ? " end" : "")")
        case 1: frames.append("HEADERS \(stream)\(flags & 1 == 1 ? " end" : "")")
        case 3: frames.append("RST_STREAM \(stream) \(word(payload[...]))")
        case 4 where flags & 1 == 1: break
        case 4:
            let entries = stride(from: 0, to: payload.count - 5, by: 6)
            let streams = entries.first { payload[$0] == 0 && payload[$0 + 1] == 3 }
            frames.append("SETTINGS" + (streams.map { " streams=\(word(payload[($0 + 2)..<($0 + 6)]))" } ?? ""))
        case 7: frames.append("GOAWAY \(word(payload[..<4])) \(String(decoding: payload[8...], as: UTF8.self))")
        default: break
        }
    }

    private func word(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    override func peerFinished() { transport?.close() }
    override func closed(_ error: TransportError?) { isClosed = true }
}
