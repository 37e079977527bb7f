import Crypto
import EventLoop
import HTTPClient
import HTTPProxy
import TLS

/// A connector that reaches an APNs endpoint directly or through a proxy.
struct APNSConnector: Sendable {
    private let endpoint: Endpoint
    private let options: ConnectOptions
    private let proxy: HTTPURL?
    /// The TLS context for the connection to the proxy; nil without a proxy or without TLS.
    private let proxyContext: TLSContext?

    init(to endpoint: Endpoint, _ configuration: WorkerConfiguration.APNs) throws(CryptoError) {
        self.endpoint = endpoint
        options = configuration.socket
        let proxy = configuration.proxy
        let isExempt = proxy?.exemptions?.contains(endpoint) ?? false
        self.proxy = isExempt ? nil : proxy?.url
        proxyContext = self.proxy?.usesTLS == true ? try TLSContext(client: TLSClientConfiguration()) : nil
    }

    func byteConnector(on loop: EventLoop) -> ByteConnector {
        guard let proxy else { return ByteConnector(loop: loop, endpoint: endpoint, options: options) }
        let host = proxy.host.filter { $0 != "[" && $0 != "]" }
        let tcp = ByteConnector(loop: loop, endpoint: Endpoint(host: host, port: proxy.port), options: options)
        return ProxyConnector(
            to: endpoint, through: proxyContext.map { TLSConnector(over: tcp, context: $0) } ?? tcp,
            authorization: proxy.credentials.map { "Basic \(Base64.encode(Array("\($0.user):\($0.password)".utf8)))" })
    }
}
