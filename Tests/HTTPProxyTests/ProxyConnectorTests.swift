import EventLoop
import HTTPProxy
import TestKit
import Testing

/// Connections through a proxy, on virtual time.
@Suite struct ProxyConnectorTests {
    private static let place = Endpoint(host: "proxy.test", port: 3128)
    private static let target = Endpoint(host: "api.push.apple.com", port: 443)

    private let loop = VirtualLoop(seed: 1)
    private let proxy: ConnectProxy
    private let server = Echo()
    private let client = Client()
    private let listener: ByteListener

    init() throws {
        proxy = ConnectProxy(loop: loop)
        listener = try loop.enter { [loop, proxy, server] in
            try proxy.listen(on: Self.place)
            return try loop.listen(on: Self.target) { accepted in
                server.transport = accepted
                accepted.handler = server
            }
        }
    }

    private func connect(authorization: String? = nil, at place: Endpoint = place) {
        loop.enter { [loop, client] in
            let connector = ProxyConnector(
                to: Self.target, through: ByteConnector(loop: loop, endpoint: place), authorization: authorization)
            client.transport = connector.connect(client)
        }
    }

    private func run(until isDone: () -> Bool) -> Bool { loop.run(limit: .seconds(60), until: isDone) == .done }

    private func close() {
        loop.enter { [client, proxy, listener] in
            client.transport?.close()
            listener.close()
            proxy.close()
        }
        #expect(run { client.isClosed && server.isClosed })
    }

    @Test func bytesFlowBothWaysAfterTheAnswer() {
        connect(authorization: "Basic dTpw")
        #expect(run { client.received == Array("hello".utf8) })
        #expect(
            proxy.requests == [
                "CONNECT api.push.apple.com:443 HTTP/1.1\r\nhost: api.push.apple.com:443\r\n"
                    + "proxy-authorization: Basic dTpw\r\n\r\n"
            ])
        close()
        #expect(client.error == nil)
    }

    @Test(arguments: [
        ("403 Forbidden", "the proxy proxy.test:3128 answered 403 to CONNECT api.push.apple.com:443"),
        (
            "407 Proxy Authentication Required",
            "the proxy proxy.test:3128 answered 407 to CONNECT api.push.apple.com:443: the proxy requires authentication"
        ),
        (
            "407 No\r\nProxy-Authenticate: NTLM",
            "the proxy proxy.test:3128 answered 407 to CONNECT api.push.apple.com:443: the proxy offers only NTLM, and Martlet "
                + "supports only Basic"
        ),
        ("nonsense", "the proxy proxy.test:3128 sent an invalid HTTP response"),
    ])
    func aRefusalNamesTheProxy(_ refusal: String, _ message: String) {
        loop.enter { proxy.refusal = refusal }
        connect()
        #expect(run { client.isClosed })
        #expect(client.error == TransportError(.proxy, message) && !client.isConnected)
        #expect(server.transport == nil)
    }

    @Test func aRefusedLoginIsNamed() {
        loop.enter { proxy.refusal = "407 No\r\nProxy-Authenticate: Basic realm=\"x\"" }
        connect(authorization: "Basic dTpw")
        #expect(run { client.isClosed })
        #expect(
            client.error?.message
                == "the proxy proxy.test:3128 answered 407 to CONNECT api.push.apple.com:443: the proxy refused the configured "
                + "user and password")
    }

    @Test func anUnreachableProxyIsNamed() {
        connect(at: Endpoint(host: "nowhere.test", port: 3128))
        #expect(run { client.isClosed })
        #expect(client.error?.code == .proxy)
        #expect(client.error?.message.hasPrefix("the proxy nowhere.test:3128: ") == true)
    }

    @Test func aSilentProxyIsNamed() {
        loop.enter { proxy.isSilent = true }
        let start = loop.now.monotonic
        connect()
        #expect(run { client.isClosed })
        #expect(
            client.error
                == TransportError(
                    .proxy, "the proxy proxy.test:3128 did not answer CONNECT api.push.apple.com:443 within 6 s"))
        #expect(start.duration(to: loop.now.monotonic).components.seconds == 6)
    }

    @Test func aClientMayAbortBeforeTheProxyHasAnswered() {
        connect(at: Self.place)
        loop.enter { client.transport?.reset() }
        #expect(run { client.isClosed })
        #expect(!client.isConnected)
    }
}

private final class Client: ByteStreamHandler {
    var transport: ByteTransport?
    var isConnected = false
    var isClosed = false
    var received: [UInt8] = []
    var error: TransportError?

    override func connected(_ transport: ByteTransport) {
        isConnected = true
        _ = Array("hello".utf8).withUnsafeBytes { transport.write($0) }
    }

    override func received(_ bytes: UnsafeRawBufferPointer) { received += bytes }

    override func closed(_ error: TransportError?) {
        isClosed = true
        self.error = error
    }
}

private final class Echo: ByteStreamHandler {
    var transport: ByteTransport?
    var isClosed = false

    override func received(_ bytes: UnsafeRawBufferPointer) { _ = transport?.write(bytes) }
    override func peerFinished() { transport?.close() }
    override func closed(_ error: TransportError?) { isClosed = true }
}
