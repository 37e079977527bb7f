/// A connector that opens byte streams of one kind to one endpoint. This class opens plain streams. Subclasses
/// add TLS or an HTTP proxy, transparently to AMQP and HTTP/2.
open class ByteConnector {
    public final let loop: EventLoop
    public final let endpoint: Endpoint
    public final let options: ConnectOptions

    public init(loop: EventLoop, endpoint: Endpoint, options: ConnectOptions = ConnectOptions()) {
        self.loop = loop
        self.endpoint = endpoint
        self.options = options
    }

    /// Resolves the host name and opens a stream. The outcome arrives at `handler`.
    open func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        loop.connect(to: endpoint, options: options, handler: handler)
    }
}
