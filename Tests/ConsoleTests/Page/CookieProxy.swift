import EventLoop

/// A proxy that passes requests with a cookie to a console, and answers others with its login page. Loop-bound.
final class CookieProxy {
    static let cookie = "operator=alice"

    private let loop: EventLoop
    private let console: Endpoint
    private var listener: ByteListener?

    init(to console: Endpoint, on loop: EventLoop) { (self.console, self.loop) = (console, loop) }

    /// Starts to listen. Returns the address.
    func listen() throws -> Endpoint {
        let listener = try loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) { [unowned self] accepted in
            let near = ProxyEnd(accepted)
            near.onBytes = { [unowned self, unowned near] in begin(near) }
            accepted.handler = near
        }
        self.listener = listener
        return listener.endpoint
    }

    func close() {
        listener?.close()
        listener = nil
    }

    /// Answers or passes the request of a connection as soon as its head is complete.
    private func begin(_ near: ProxyEnd) {
        let text = String(decoding: near.received, as: UTF8.self)
        guard text.contains("\r\n\r\n") else { return }
        near.onBytes = {}
        guard text.contains(Self.cookie) else {
            let page = "<!doctype html><title>Sign in</title>"
            near.send(
                Array(
                    """
                    HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: \(page.utf8.count)\r\n\
                    Connection: close\r\n\r\n\(page)
                    """.utf8))
            return near.end()
        }
        let far = ProxyEnd(nil)
        far.other = near
        near.other = far
        // A further request of the connection would need a check of its own.
        far.send(Array(text.replacing("Connection: keep-alive", with: "Connection: close").utf8))
        far.transport = loop.connect(to: console, handler: far)
    }
}

/// One end of a proxied connection. Passes bytes to the other end.
private final class ProxyEnd: ByteStreamHandler {
    var transport: ByteTransport?
    weak var other: ProxyEnd?
    /// The bytes before the other end exists.
    private(set) var received: [UInt8] = []
    var onBytes: () -> Void = {}
    private var isConnected: Bool
    private var isEnding = false
    private var unsent: [UInt8] = []

    init(_ transport: ByteTransport?) {
        self.transport = transport
        isConnected = transport != nil
    }

    func send(_ bytes: [UInt8]) {
        unsent += bytes
        writable()
    }

    /// Closes the connection after the unsent bytes.
    func end() {
        isEnding = true
        writable()
    }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
        isConnected = true
        writable()
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        if let other { return other.send(Array(bytes)) }
        received += bytes
        onBytes()
    }

    override func writable() {
        guard let transport, isConnected else { return }
        if !unsent.isEmpty {
            let written = unsent.withUnsafeBytes { transport.write($0) }
            unsent.removeFirst(written)
        }
        if isEnding, unsent.isEmpty { transport.close() }
    }

    override func peerFinished() {
        other?.end()
        end()
    }

    override func closed(_ error: TransportError?) {
        transport = nil
        other?.end()
    }
}
