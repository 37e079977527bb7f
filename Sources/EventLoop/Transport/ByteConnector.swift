/// Opens byte streams of one kind to one place. This one opens plain streams; TLS has a subclass, so that AMQP and
/// HTTP/2 need not know the difference.
open class ByteConnector {
    public final let loop: EventLoop
    public final let endpoint: Endpoint
    public final let options: ConnectOptions

    public init(loop: EventLoop, endpoint: Endpoint, options: ConnectOptions = ConnectOptions()) {
        self.loop = loop
        self.endpoint = endpoint
        self.options = options
    }

    /// Opens a stream, with the host name resolved anew; the outcome arrives at `handler`.
    open func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        loop.connect(to: endpoint, options: options, handler: handler)
    }
}
