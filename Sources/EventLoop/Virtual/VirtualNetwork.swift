/// The network of a virtual loop: connections in memory, with latency, pieces of any size, and cuts.
///
/// `@unchecked Sendable`: belongs to the virtual loop and is used on its thread only.
public final class VirtualNetwork: @unchecked Sendable {
    /// Bytes on the way in one direction before `write` takes no more.
    static let windowBytes = 64 * 1024

    /// One-way delay of each piece, in microseconds: from the first to the second.
    public var latencyMicroseconds = 50...400
    /// How a stream is broken up, in percent of the pieces: whole, else cut at a random byte.
    public var wholePiecesPercent = 80
    /// Sees each new connection before a byte is sent over it.
    public var onConnect: (VirtualConnection) -> Void = { _ in }
    /// Connections in the order in which they were opened, those that have ended too.
    public private(set) var connections: [VirtualConnection] = []
    /// Mixes all bytes, times and ends of all connections: equal for equal histories.
    public internal(set) var history = HistoryHash()

    private var listeners: [VirtualListener] = []
    /// Those that have not ended.
    private var transports: [VirtualTransport] = []
    private var isOver = false
    private var nextFreePort: UInt16 = 50_000
    var random: SeededRandom

    init(random: SeededRandom) {
        self.random = random
    }

    func listen(
        on endpoint: Endpoint, accept: @escaping (ByteTransport) -> Void
    ) throws(TransportError) -> ByteListener {
        var endpoint = endpoint
        if endpoint.port == 0 {
            endpoint.port = nextFreePort
            nextFreePort += 1
        }
        guard !listeners.contains(where: { $0.endpoint == endpoint }) else {
            throw TransportError(.addressUnavailable, "\(endpoint): already listened on")
        }
        let listener = VirtualListener(endpoint: endpoint, network: self, accept: accept)
        listeners.append(listener)
        return listener
    }

    func remove(_ listener: VirtualListener) {
        listeners.removeAll { $0 === listener }
    }

    func connect(
        to endpoint: Endpoint, options: ConnectOptions, handler: ByteStreamHandler, on loop: EventLoop
    ) -> ByteTransport {
        guard !isOver else { return VirtualTransport(loop: loop, network: self, handler: nil) }
        let client = VirtualTransport(loop: loop, network: self, handler: handler)
        transports.append(client)
        let latency = latency()
        let limit = Duration.seconds(options.connectSecondsMax)
        loop.schedule(after: min(latency, limit)) { [self] in
            guard client.state == .connecting else { return }
            guard latency <= limit else {
                let seconds = options.connectSecondsMax
                return client.end(TransportError(.timedOut, "\(endpoint): no connection within \(seconds) s"))
            }
            guard let listener = listeners.first(where: { $0.endpoint == endpoint }) else {
                return client.end(TransportError(.refused, "\(endpoint): connection refused"))
            }
            let server = VirtualTransport(loop: loop, network: self, handler: nil)
            let connection = VirtualConnection(
                number: connections.count, endpoint: endpoint, client: client, server: server)
            connections.append(connection)
            transports.append(server)
            client.join(connection, to: server)
            server.join(connection, to: client)
            onConnect(connection)
            listener.accept(server)
            server.open()
            client.open()
        }
        return client
    }

    func forget(_ transport: VirtualTransport) {
        transports.removeAll { $0 === transport }
    }

    /// Ends all that is open, and lets nothing more be opened.
    func end() {
        isOver = true
        for transport in transports { transport.end(TransportError(.reset, "the virtual network has ended")) }
        listeners = []
        connections = []
    }

    func latency() -> Duration {
        .microseconds(
            latencyMicroseconds.lowerBound
                + random.below(latencyMicroseconds.upperBound - latencyMicroseconds.lowerBound + 1))
    }
}

/// Where a virtual network accepts connections.
final class VirtualListener: ByteListener {
    /// Weak: the network holds its listeners.
    private weak let network: VirtualNetwork?
    let accept: (ByteTransport) -> Void

    init(endpoint: Endpoint, network: VirtualNetwork, accept: @escaping (ByteTransport) -> Void) {
        self.network = network
        self.accept = accept
        super.init(endpoint: endpoint)
    }

    override func close() {
        network?.remove(self)
    }
}
