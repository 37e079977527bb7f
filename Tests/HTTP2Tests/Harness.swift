import EventLoop
import HTTP2

/// An `HTTP2Client` and an `HTTP2Server`, connected on virtual time.
final class Harness {
    let loop: VirtualLoop
    let client: RecordingClient
    private(set) var servers: [ScriptedServer] = []
    private let listener: ByteListener
    static let endpoint = Endpoint(host: "server", port: 443)

    /// Creates a client, and a server that accepts its connection.
    ///
    /// - Parameter wrap: A closure that inserts a handler between the network and each session.
    init(
        seed: UInt64 = 1, serverSettings: HTTP2Settings = HTTP2Settings(maxConcurrentStreams: 1000),
        clientLimits: HTTP2Limits = HTTP2Limits(), serverLimits: HTTP2Limits = HTTP2Limits(),
        onRequest: @escaping (ScriptedServer, HTTP2Stream) -> Void = { server, stream in
            server.server.respond(stream, status: 200)
        },
        wrap: @escaping (ByteStreamHandler) -> ByteStreamHandler = { $0 }
    ) throws {
        let loop = VirtualLoop(seed: seed)
        self.loop = loop
        client = RecordingClient()
        var accepted: (ScriptedServer) -> Void = { _ in }
        listener = try loop.enter {
            try loop.listen(on: Self.endpoint) { [unowned loop] transport in
                let server = ScriptedServer(onRequest: onRequest)
                server.server = HTTP2Server(
                    loop: loop, delegate: server, settings: serverSettings, limits: serverLimits)
                transport.handler = wrap(server.server)
                accepted(server)
            }
        }
        loop.enter {
            client.client = HTTP2Client(loop: loop, delegate: client, limits: clientLimits)
            _ = loop.connect(to: Self.endpoint, handler: wrap(client.client))
        }
        accepted = { [unowned self] in servers.append($0) }
    }

    /// Closes the listener and aborts all sessions, so that the leak sanitizer reports nothing.
    deinit {
        loop.enter {
            listener.close()
            client.client.abort()
            for server in servers { server.server.abort() }
        }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    var server: ScriptedServer { servers[0] }

    func run(until isDone: () -> Bool) -> VirtualLoop.Outcome { loop.run(limit: .seconds(600), until: isDone) }

    /// Runs until the peer's settings have arrived. Returns whether they have arrived.
    func open() -> Bool { run(until: { !client.settings.isEmpty }) == .done }

    /// Runs until no events remain, for at most ten minutes of virtual time.
    func settle() { _ = run(until: { false }) }

    @discardableResult
    func request(_ path: String = "/", body: [UInt8] = [], range: Range<Int>? = nil) -> HTTP2Stream? {
        loop.enter { client.request(path, body: body, range: range) }
    }
}

/// A delegate that records the events of a client.
final class RecordingClient: HTTP2ClientDelegate {
    struct Response: Equatable {
        var headerBlocks = 0
        var status = 0
        var headers: [String] = []
        var body: [UInt8] = []
        var end: StreamEnd?
    }

    var client: HTTP2Client!
    var responses: [Int32: Response] = [:]
    var connections = 0
    var settings: [HTTP2Settings] = []
    var goAways: [(last: Int32, code: HTTP2ErrorCode, debug: String)] = []
    var pings: [UInt64] = []
    var closes: [TransportError?] = []
    var ended = 0
    var onEnd: (HTTP2Stream, StreamEnd) -> Void = { _, _ in }

    func request(_ path: String, body: [UInt8] = [], range: Range<Int>? = nil) -> HTTP2Stream? {
        var headers = HeaderBlock()
        headers.append(":method", "POST")
        headers.append(":scheme", "https")
        headers.append(":path", Array(path.utf8), indexing: .never)
        headers.append(":authority", "server")
        headers.append("number", 42)
        return client.request(&headers, body: body, range: range)
    }

    override func connected() { connections += 1 }
    override func settingsReceived(_ settings: HTTP2Settings) { self.settings.append(settings) }
    override func headersBegan(_ stream: HTTP2Stream) { responses[stream.id, default: Response()].headerBlocks += 1 }
    override func responseStatus(_ stream: HTTP2Stream, _ status: Int) {
        responses[stream.id, default: Response()].status = status
    }
    override func responseHeader(_ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        responses[stream.id, default: Response()].headers.append(text(name) + ": " + text(value))
    }
    override func responseBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {
        responses[stream.id, default: Response()].body += bytes
    }
    override func streamEnded(_ stream: HTTP2Stream, _ end: StreamEnd) {
        precondition(responses[stream.id]?.end == nil, "a stream ended twice")
        responses[stream.id, default: Response()].end = end
        ended += 1
        onEnd(stream, end)
    }
    override func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
        goAways.append((lastStreamID, code, text(debug)))
    }
    override func pingAcknowledged(_ number: UInt64) { pings.append(number) }
    override func closed(_ error: TransportError?) { closes.append(error) }
}

/// A delegate that records requests, and answers them as the test specifies.
final class ScriptedServer: HTTP2ServerDelegate {
    struct Request: Equatable {
        var headers: [String] = []
        var neverIndexed: [String] = []
        var representations: [HeaderRepresentation] = []
        var body: [UInt8] = []
        var excess = StreamExcess.none
        var closed: HTTP2ErrorCode?
    }

    var server: HTTP2Server!
    let onRequest: (ScriptedServer, HTTP2Stream) -> Void
    var requests: [Int32: Request] = [:]
    var acknowledgments = 0
    var closes: [TransportError?] = []

    init(onRequest: @escaping (ScriptedServer, HTTP2Stream) -> Void) { self.onRequest = onRequest }

    override var wantsHeaderRepresentations: Bool { true }
    override func settingsAcknowledged() { acknowledgments += 1 }
    override func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {
        requests[stream.id] = Request(excess: excess)
    }
    override func requestHeader(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation
    ) {
        requests[stream.id]?.headers.append(text(name) + ": " + text(value))
        requests[stream.id]?.representations.append(representation)
        if representation.neverIndexed { requests[stream.id]?.neverIndexed.append(text(name)) }
    }
    override func requestBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {
        requests[stream.id]?.body += bytes
    }
    override func requestEnded(_ stream: HTTP2Stream) { onRequest(self, stream) }
    override func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) { requests[stream.id]?.closed = code }
    override func closed(_ error: TransportError?) { closes.append(error) }
}

/// A handler that forwards input one byte at a time.
final class ByteByByte: ByteStreamHandler {
    private let inner: ByteStreamHandler

    init(_ inner: ByteStreamHandler) { self.inner = inner }

    override func connected(_ transport: ByteTransport) { inner.connected(transport) }
    override func received(_ bytes: UnsafeRawBufferPointer) {
        for index in bytes.indices { inner.received(UnsafeRawBufferPointer(rebasing: bytes[index..<(index + 1)])) }
    }
    override func writable() { inner.writable() }
    override func peerFinished() { inner.peerFinished() }
    override func closed(_ error: TransportError?) { inner.closed(error) }
}

/// A peer that sends given bytes, which need not be HTTP/2, and records its input.
final class RawPeer: ByteStreamHandler {
    var transport: ByteTransport?
    var received: [UInt8] = []
    var hasClosed = false
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
        _ = bytes.withUnsafeBytes { transport.write($0) }
    }
    override func received(_ bytes: UnsafeRawBufferPointer) { received += bytes }
    override func peerFinished() { transport?.close() }
    override func closed(_ error: TransportError?) { hasClosed = true }
}

/// A harness that connects raw peers with a client or a server, on virtual time.
final class BareHarness {
    let loop: VirtualLoop
    private var listeners: [ByteListener] = []
    private var sessions: [HTTP2Session] = []
    private var peers: [RawPeer] = []

    init(seed: UInt64 = 1) {
        loop = VirtualLoop(seed: seed)
    }

    deinit {
        loop.enter {
            for listener in listeners { listener.close() }
            for session in sessions { session.abort() }
            for peer in peers { peer.transport?.reset() }
        }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    func connect(_ client: RecordingClient, to peer: RawPeer, at endpoint: Endpoint = Harness.endpoint) throws {
        peers.append(peer)
        try loop.enter {
            listeners.append(try loop.listen(on: endpoint) { $0.handler = peer })
            client.client = HTTP2Client(loop: loop, delegate: client)
            sessions.append(client.client)
            _ = loop.connect(to: endpoint, handler: client.client)
        }
    }

    func connect(_ peer: RawPeer, to server: ScriptedServer) throws {
        peers.append(peer)
        try loop.enter {
            server.server = HTTP2Server(loop: loop, delegate: server)
            sessions.append(server.server)
            listeners.append(try loop.listen(on: Harness.endpoint) { $0.handler = server.server })
            _ = loop.connect(to: Harness.endpoint, handler: peer)
        }
    }
}

func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
