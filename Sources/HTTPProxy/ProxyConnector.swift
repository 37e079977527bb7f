public import EventLoop

/// A connector that opens byte streams through an HTTP proxy with CONNECT (RFC 9110, section 9.3.6). With TLS on top,
/// the proxy sees only host and port.
///
/// A connection fails if the proxy does not answer CONNECT within ``answerSecondsMax``. The connector to the proxy
/// limits the earlier steps.
public final class ProxyConnector: ByteConnector {
    /// Maximum time from the opening of the connection to the proxy until the proxy's answer. Includes the time in
    /// which the proxy connects to the target.
    public static let answerSecondsMax = 6

    private let proxy: ByteConnector
    private let authorization: String?

    /// Creates a connector to an endpoint behind a proxy.
    ///
    /// - Parameters:
    ///   - proxy: opens streams to the proxy, with or without TLS.
    ///   - authorization: the secret value of `proxy-authorization`, sent only to the proxy.
    public init(to endpoint: Endpoint, through proxy: ByteConnector, authorization: String? = nil) {
        self.proxy = proxy
        self.authorization = authorization
        super.init(loop: proxy.loop, endpoint: endpoint, options: proxy.options)
    }

    public override func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        let handler = TunnelHandler(
            handler, request: request, hasLogin: authorization != nil, target: endpoint, proxy: proxy.endpoint)
        return proxy.connect(handler)
    }

    private var request: [UInt8] {
        let login = authorization.map { "proxy-authorization: \($0)\r\n" } ?? ""
        return Array("CONNECT \(endpoint) HTTP/1.1\r\nhost: \(endpoint)\r\n\(login)\r\n".utf8)
    }
}

/// A handler that owns the stream until the tunnel is open, and then passes the stream to the next handler.
private final class TunnelHandler: ByteStreamHandler {
    private let next: ByteStreamHandler
    private let target: Endpoint
    private let place: String
    private let hasLogin: Bool
    private var unsent: [UInt8]
    private var answer = ConnectAnswer()
    private var transport: ByteTransport?
    private var failure: TransportError?
    /// A closure that cancels the timer. The timer runs from the opening of the connection to the proxy until the
    /// proxy's answer.
    private var cancelTimer: () -> Void = {}

    init(_ next: ByteStreamHandler, request: [UInt8], hasLogin: Bool, target: Endpoint, proxy: Endpoint) {
        self.next = next
        self.hasLogin = hasLogin
        self.target = target
        place = "the proxy \(proxy)"
        unsent = request
    }

    override func connected(_ transport: ByteTransport) {
        self.transport = transport
        let loop = transport.loop
        let timer = loop.schedule(after: .seconds(ProxyConnector.answerSecondsMax)) { [self] in
            fail("\(place) did not answer CONNECT \(target) within \(ProxyConnector.answerSecondsMax) s")
        }
        cancelTimer = { loop.cancel(timer) }
        writable()
    }

    override func writable() {
        guard let transport, !unsent.isEmpty else { return }
        let taken = unsent.withUnsafeBytes { transport.write($0) }
        unsent.removeFirst(taken)
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, let transport else { return }
        switch answer.add(bytes) {
        case .incomplete: break
        case .open(let rest): handOver(transport, rest)
        case .refused(let status, let logins):
            fail("\(place) answered \(status) to CONNECT \(target)\(status == 407 ? loginAdvice(logins) : "")")
        case .malformed: fail("\(place) sent an invalid HTTP response")
        }
    }

    /// Returns the reason for status 407, as the end of an error message.
    ///
    /// - Parameter logins: the schemes that the proxy offers.
    private func loginAdvice(_ logins: [String]) -> String {
        guard logins.isEmpty || logins.contains(where: { $0.lowercased() == "basic" }) else {
            return ": the proxy offers only \(logins.joined(separator: " and ")), and Martlet supports only Basic"
        }
        return hasLogin ? ": the proxy refused the configured user and password" : ": the proxy requires authentication"
    }

    private func handOver(_ transport: ByteTransport, _ rest: [UInt8]) {
        self.transport = nil
        cancelTimer()
        transport.handler = next
        next.connected(transport)
        if !rest.isEmpty { rest.withUnsafeBytes { next.received($0) } }
    }

    private func fail(_ message: String) {
        failure = TransportError(.proxy, message)
        transport?.reset()
    }

    override func peerFinished() { fail("\(place) closed the connection before it answered CONNECT \(target)") }

    override func closed(_ error: TransportError?) {
        let error = error.map { TransportError(.proxy, "\(place): \($0.message)", underlying: $0.underlying) }
        transport = nil
        cancelTimer()
        next.closed(failure ?? error)
    }
}
