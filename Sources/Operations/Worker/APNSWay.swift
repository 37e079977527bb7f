import Crypto
import EventLoop
import HTTPClient
import HTTPProxy
import TLS

/// How an endpoint of APNs is reached: straight, or through a proxy.
struct APNSWay: Sendable {
    private let endpoint: Endpoint
    private let options: ConnectOptions
    private let proxy: HTTPURL?
    /// Where TLS is spoken with the proxy itself.
    private let proxyContext: TLSContext?

    init(to endpoint: Endpoint, _ configuration: Configuration.APNs) throws(CryptoError) {
        self.endpoint = endpoint
        options = configuration.socket
        let proxy = configuration.proxy
        let isExempt = proxy?.exemptions?.contains(endpoint) ?? false
        self.proxy = isExempt ? nil : proxy?.url
        proxyContext = self.proxy?.usesTLS == true ? try TLSContext(client: TLSClientConfiguration()) : nil
    }

    func connector(on loop: EventLoop) -> ByteConnector {
        guard let proxy else { return ByteConnector(loop: loop, endpoint: endpoint, options: options) }
        let host = proxy.host.filter { $0 != "[" && $0 != "]" }
        let tcp = ByteConnector(loop: loop, endpoint: Endpoint(host: host, port: proxy.port), options: options)
        return ProxyConnector(
            to: endpoint, through: proxyContext.map { TLSConnector(over: tcp, context: $0) } ?? tcp,
            authorization: proxy.credentials.map { "Basic \(Base64.encode(Array("\($0.user):\($0.password)".utf8)))" })
    }
}
