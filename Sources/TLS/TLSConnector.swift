public import EventLoop

/// A connector that opens TLS connections to one endpoint.
public final class TLSConnector: ByteConnector {
    private let below: ByteConnector
    private let context: TLSContext
    private let name: String

    /// Creates a connector that uses TLS over TCP.
    ///
    /// - Parameters:
    ///   - context: a client context.
    ///   - serverName: the host name or address for which the certificate must be valid; nil means the endpoint's
    ///     host.
    public convenience init(loop: EventLoop, endpoint: Endpoint, context: TLSContext, serverName: String? = nil) {
        self.init(over: ByteConnector(loop: loop, endpoint: endpoint), context: context, serverName: serverName)
    }

    /// Creates a connector that uses TLS over the streams of `below`.
    public init(over below: ByteConnector, context: TLSContext, serverName: String? = nil) {
        precondition(!context.isServer, "a server's context cannot open connections")
        self.below = below
        self.context = context
        name = serverName ?? below.endpoint.host
        super.init(loop: below.loop, endpoint: below.endpoint, options: below.options)
    }

    public override func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        do {
            return try TLSTransport.connect(over: below, context: context, name: name, handler: handler)
        } catch {
            return FailedTransport(loop: loop, handler: handler, error: error)
        }
    }
}

/// A stream that could not be opened. The stream calls `closed` with the error after `connect` has returned.
private final class FailedTransport: ByteTransport {
    init(loop: EventLoop, handler: ByteStreamHandler, error: TransportError) {
        super.init(loop: loop, handler: handler)
        loop.schedule(after: .zero) { [self] in
            let handler = self.handler
            self.handler = nil
            handler?.closed(error)
        }
    }
}
