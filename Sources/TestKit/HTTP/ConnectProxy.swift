public import EventLoop

/// An HTTP proxy on one event loop. It supports only CONNECT.
public final class ConnectProxy {
    /// The request heads received so far, one string per request.
    public private(set) var requests: [String] = []
    /// The status code and reason phrase of every response; nil to open tunnels.
    public var refusal: String?
    /// Whether the proxy leaves requests unanswered.
    public var isSilent = false
    private let loop: EventLoop
    /// The destination of every tunnel; nil to use the requested destination.
    private let target: Endpoint?
    private var listener: ByteListener?

    public init(loop: EventLoop, target: Endpoint? = nil) {
        self.loop = loop
        self.target = target
    }

    /// Starts to listen.
    ///
    /// - Returns: The address on which the proxy listens.
    @discardableResult
    public func listen(on endpoint: Endpoint) throws(TransportError) -> Endpoint {
        let listener = try loop.listen(on: endpoint) { [unowned self] accepted in
            accepted.handler = RequestReader(self, accepted)
        }
        self.listener = listener
        return listener.endpoint
    }

    public func close() {
        listener?.close()
        listener = nil
    }

    fileprivate func handle(_ head: String, _ client: ByteTransport) {
        requests.append(head)
        if isSilent { return }
        let words = head.split(separator: " ")
        guard refusal == nil, words.first == "CONNECT", let endpoint = target ?? Endpoint(String(words[1])) else {
            return answer(client, refusal ?? "400 Bad Request", closes: true)
        }
        let (near, far) = (TunnelEnd(), TunnelEnd())
        (near.other, far.other) = (far, near)
        near.transport = client
        client.handler = near
        far.onConnected = { [unowned self, unowned near] in
            near.transport.map { answer($0, "200 Connection established", closes: false) }
        }
        far.transport = loop.connect(to: endpoint, handler: far)
    }

    private func answer(_ client: ByteTransport, _ status: String, closes: Bool) {
        _ = Array("HTTP/1.1 \(status)\r\nvia: 1.1 tests\r\n\r\n".utf8).withUnsafeBytes { client.write($0) }
        if closes { client.finishWriting() }
    }
}

/// A handler that collects a client's request until the request head is complete.
private final class RequestReader: ByteStreamHandler {
    private unowned let proxy: ConnectProxy
    private unowned let client: ByteTransport
    private var head = ""

    init(_ proxy: ConnectProxy, _ client: ByteTransport) {
        self.proxy = proxy
        self.client = client
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        head += String(decoding: bytes, as: UTF8.self)
        if head.hasSuffix("\r\n\r\n") { proxy.handle(head, client) }
    }

    override func peerFinished() { client.close() }
}

/// One end of a tunnel. Forwards received bytes to the other end, which buffers bytes that its transport does not
/// accept.
private final class TunnelEnd: ByteStreamHandler {
    var transport: ByteTransport?
    weak var other: TunnelEnd?
    var onConnected: () -> Void = {}
    private var unsent: [UInt8] = []

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
        onConnected()
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        other?.unsent += bytes
        other?.writable()
    }

    override func writable() {
        guard let transport, !unsent.isEmpty else { return }
        let written = unsent.withUnsafeBytes { transport.write($0) }
        unsent.removeFirst(written)
    }

    override func peerFinished() { other?.transport?.close() }

    override func closed(_ error: TransportError?) {
        transport = nil
        other?.transport?.close()
    }
}
