/// The network of a virtual loop, with connections in memory, latency, random splits of writes, and cuts.
///
/// `@unchecked Sendable`: used on the virtual loop's thread only.
public final class VirtualNetwork: @unchecked Sendable {
    /// Maximum number of bytes in transit in one direction. `write` accepts no more bytes.
    static let windowBytes = 64 * 1024

    /// Range of the one-way delay of each piece, in microseconds.
    public var latencyMicroseconds = 50...400
    /// Percentage of writes that are sent in one piece. The other writes may be split at random positions.
    public var wholePiecesPercent = 80
    /// The function that receives each new connection before any byte is sent.
    public var onConnect: (VirtualConnection) -> Void = { _ in }
    /// All connections in the order of opening, including ended connections; empty after the end of the network.
    public private(set) var connections: [VirtualConnection] = []
    /// Hash over the bytes, times and ends of all connections. Equal histories have equal values.
    public internal(set) var history = HistoryHash()

    private var listeners: [VirtualListener] = []
    /// Transports that have not ended.
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
            throw TransportError(.addressUnavailable, "\(endpoint): address in use")
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

    /// Ends all connections. Later connects have no effect.
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

final class VirtualListener: ByteListener {
    /// Weak, because the network retains its listeners.
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
