public import EventLoop

/// An HTTP proxy that knows CONNECT and nothing else, on one loop. It takes only whole requests.
public final class ConnectProxy {
    /// What it was asked, the first line and the headers, one text each.
    public private(set) var requests: [String] = []
    /// Answered in place of what would be done.
    public var refusal: String?
    /// It takes requests and says nothing.
    public var isSilent = false
    private let loop: EventLoop
    /// Where a tunnel leads, whatever was asked for; nil: to what was asked for.
    private let target: Endpoint?
    private var listener: ByteListener?

    public init(loop: EventLoop, target: Endpoint? = nil) {
        self.loop = loop
        self.target = target
    }

    /// - Returns: where it listens.
    @discardableResult
    public func listen(on endpoint: Endpoint) throws(TransportError) -> Endpoint {
        let listener = try loop.listen(on: endpoint) { [unowned self] accepted in
            accepted.handler = Asked(self, accepted)
        }
        self.listener = listener
        return listener.endpoint
    }

    public func close() {
        listener?.close()
        listener = nil
    }

    fileprivate func asked(_ head: String, _ client: ByteTransport) {
        requests.append(head)
        if isSilent { return }
        let words = head.split(separator: " ")
        guard refusal == nil, words.first == "CONNECT", let endpoint = target ?? Endpoint(String(words[1])) else {
            return answer(client, refusal ?? "400 Bad Request", closes: true)
        }
        let (near, far) = (Side(), Side())
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

/// A client until its request is whole.
private final class Asked: ByteStreamHandler {
    private unowned let proxy: ConnectProxy
    private unowned let client: ByteTransport
    private var head = ""

    init(_ proxy: ConnectProxy, _ client: ByteTransport) {
        self.proxy = proxy
        self.client = client
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        head += String(decoding: bytes, as: UTF8.self)
        if head.hasSuffix("\r\n\r\n") { proxy.asked(head, client) }
    }

    override func peerFinished() { client.close() }
}

/// One side of a tunnel: what comes from it goes to the other, and is kept while that has no room.
private final class Side: ByteStreamHandler {
    var transport: ByteTransport?
    weak var other: Side?
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
        let taken = unsent.withUnsafeBytes { transport.write($0) }
        unsent.removeFirst(taken)
    }

    override func peerFinished() { other?.transport?.close() }

    override func closed(_ error: TransportError?) {
        transport = nil
        other?.transport?.close()
    }
}
