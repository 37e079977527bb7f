import APNSProtocol
import Crypto
import EventLoop
import HTTP2

@testable import APNS

/// An APNs with scripted answers, at the other end of in-memory connections.
final class FakeAPNS {
    static let endpoint = Endpoint(host: "api.test", port: 443)

    let loop: VirtualLoop
    private(set) var connections: [FakeConnection] = []
    /// The initial settings of each connection.
    var settings = HTTP2Settings(maxConcurrentStreams: 1000)
    var limits = HTTP2Limits(connectionWindowBytes: 16_777_216)
    /// A closure that is called when a whole request has arrived.
    var onRequest: (FakeConnection, HTTP2Stream) -> Void = { connection, stream in connection.accept(stream) }
    /// A closure that is called when a GOAWAY has arrived.
    var onGoAway: (FakeConnection) -> Void = { _ in }
    /// Whether the peer discards all input, as behind a firewall that has dropped the connection.
    var isSilent = false
    private var listener: ByteListener?

    init(_ loop: VirtualLoop) {
        self.loop = loop
    }

    func start() throws {
        listener = try loop.listen(on: Self.endpoint) { [unowned self] transport in
            let connection = FakeConnection(apns: self)
            connection.transport = transport
            connections.append(connection)
            connection.server = HTTP2Server(
                loop: loop, delegate: connection, settings: settings, limits: limits)
            transport.handler = Silencer(connection.server, apns: self)
        }
    }

    /// Accepts no more connections.
    func stop() {
        listener?.close()
        listener = nil
    }

    func close() {
        stop()
        for connection in connections { connection.server.abort() }
    }

    var requests: [FakeConnection.Request] { connections.flatMap(\.requests) }
}

final class FakeConnection: HTTP2ServerDelegate {
    struct Request {
        var stream: HTTP2Stream
        var headers: [(name: String, value: String, neverIndexed: Bool)] = []
        var body: [UInt8] = []
        var closed: HTTP2ErrorCode?

        /// The number of a push created by `PoolHarness.request`; negative for another path.
        var number: Int { Int(self[":path"]?.suffix(6) ?? "").map { $0 - 100_000 } ?? -1 }

        subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    unowned let apns: FakeAPNS
    var server: HTTP2Server!
    /// The transport of the server. A paused transport does not read the client's bytes.
    weak var transport: ByteTransport?
    /// Requests in the order of their start.
    var requests: [Request] = []
    private var places: [Int32: Int] = [:]
    private var openCount = 0
    /// The maximum number of streams that were open at the same time.
    var openMax = 0
    /// The number of open streams when the first GOAWAY arrived; nil before a GOAWAY.
    var openAtGoAway: Int?
    var hasClosed = false

    init(apns: FakeAPNS) { self.apns = apns }

    func index(_ stream: HTTP2Stream) -> Int? { places[stream.id] }

    func request(_ stream: HTTP2Stream) -> Request? { index(stream).map { requests[$0] } }

    /// The open streams, oldest first.
    var open: [HTTP2Stream] { requests.filter { $0.closed == nil }.map(\.stream) }

    func accept(_ stream: HTTP2Stream) { answer(stream, 200) }

    func answer(
        _ stream: HTTP2Stream, _ status: Int, _ body: String = "", uniqueID: String? = nil, requestID: String? = nil,
        retryAfter: String? = nil, id: String? = nil
    ) {
        var headers = HeaderBlock()
        if let uniqueID { headers.append(name: "apns-unique-id", value: uniqueID) }
        if let id = requestID ?? request(stream)?["apns-request-id"] {
            headers.append(name: "apns-request-id", value: id)
        }
        if let retryAfter { headers.append(name: "retry-after", value: retryAfter) }
        if let id = id ?? request(stream)?["apns-id"] { headers.append(name: "apns-id", value: id) }
        server.respond(stream, status: status, headers: headers, body: Array(body.utf8))
    }

    override func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {
        places[stream.id] = requests.count
        requests.append(Request(stream: stream))
        openCount += 1
        openMax = max(openMax, openCount)
    }
    override func requestHeader(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation
    ) {
        guard let index = index(stream) else { return }
        requests[index].headers.append((text(name), text(value), representation.neverIndexed))
    }
    override func requestBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {
        guard let index = index(stream) else { return }
        requests[index].body += bytes
    }
    override func requestEnded(_ stream: HTTP2Stream) { apns.onRequest(self, stream) }
    override func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        guard let index = index(stream), requests[index].closed == nil else { return }
        requests[index].closed = code
        openCount -= 1
    }
    override func goAwayReceived(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
        openAtGoAway = openAtGoAway ?? openCount
        apns.onGoAway(self)
    }
    override func closed(_ error: TransportError?) { hasClosed = true }

    private func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// A handler that discards input while its APNs is silent.
private final class Silencer: ByteStreamHandler {
    private let inner: ByteStreamHandler
    private unowned let apns: FakeAPNS

    init(_ inner: ByteStreamHandler, apns: FakeAPNS) {
        self.inner = inner
        self.apns = apns
    }

    override func connected(_ transport: ByteTransport) { inner.connected(transport) }
    override func received(_ bytes: UnsafeRawBufferPointer) {
        if !apns.isSilent { inner.received(bytes) }
    }
    override func writable() { inner.writable() }
    override func peerFinished() { inner.peerFinished() }
    override func closed(_ error: TransportError?) { inner.closed(error) }
}
