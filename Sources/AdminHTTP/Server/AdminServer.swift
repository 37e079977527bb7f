import CMicroHTTPD
public import EventLoop
import Glibc

/// A small HTTP/1.1 endpoint on a loop, for people, monitors and scripts beside the real work.
///
///     let server = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
///         exchange.answer(.json(Array("{}".utf8)))
///     }
///
/// libmicrohttpd reads and writes, without a thread of its own: its epoll descriptor is one more that the loop watches.
/// Everything is called on the loop; until `close()` the loop keeps the endpoint alive.
public final class AdminServer {
    /// Where it listens, with the port that was given when 0 was asked for.
    public private(set) var endpoint: Endpoint

    let loop: EpollLoop
    let configuration: AdminConfiguration
    let hosts: TrustedHosts
    /// Let go of with the end, since it may hold what holds this.
    private var handler: ((AdminExchange) -> Void)?
    private var daemon: OpaquePointer?
    private var listener: ByteListener?
    private var watch: DescriptorWatch?
    private var nextRun: TimerToken?
    /// Whole, and not shown to the handler yet.
    private var arrived: [AdminExchange] = []
    private(set) var pending: [ObjectIdentifier: AdminExchange] = [:]
    private(set) var bytesHeld = 0
    /// Connections of libmicrohttpd, those included that are shut and that it has yet to end.
    var connectionCount = 0
    /// The connections that are not shut.
    var clients: [ObjectIdentifier: AdminClient] = [:]
    private var waitNumber = 0
    /// Called when the endpoint closes a connection of its own accord.
    public var onClosed: ((AdminClosing) -> Void)?
    /// Connections that may be shut and not ended yet: libmicrohttpd runs after each accept.
    static let closingMax = 64

    /// Listens at an address, port 0 being any free one.
    ///
    /// - Parameter handler: gets every whole request of a client that may ask, and has it answered now or later.
    /// - Throws: when the address cannot be had, or the process is out of memory or descriptors.
    public convenience init(
        loop: EpollLoop, endpoint: Endpoint, configuration: AdminConfiguration = AdminConfiguration(),
        handler: @escaping (AdminExchange) -> Void
    ) throws(TransportError) {
        try self.init(loop, endpoint.host, configuration, handler) { accept throws(TransportError) in
            try loop.listen(on: endpoint, acceptDescriptor: accept)
        }
    }

    /// Listens on a Unix socket, which only this user may connect to.
    ///
    /// - Parameter handler: as above.
    /// - Throws: when the path cannot be had, or the process is out of memory or descriptors.
    public convenience init(
        loop: EpollLoop, socketPath: String, configuration: AdminConfiguration = AdminConfiguration(),
        handler: @escaping (AdminExchange) -> Void
    ) throws(TransportError) {
        try self.init(loop, "localhost", configuration, handler) { accept throws(TransportError) in
            try loop.listen(onSocketAt: socketPath, acceptDescriptor: accept)
        }
    }

    private init(
        _ loop: EpollLoop, _ host: String, _ configuration: AdminConfiguration,
        _ handler: @escaping (AdminExchange) -> Void,
        _ listen: (@escaping (Int32) -> Void) throws(TransportError) -> ByteListener
    ) throws(TransportError) {
        loop.assertOnLoop()
        self.loop = loop
        self.configuration = configuration
        self.handler = handler
        endpoint = Endpoint(host: host, port: 0)
        hosts = TrustedHosts(
            listening: host, names: configuration.hostNames, isAnyTrusted: configuration.answersAnyHost)
        let listener = try listen { [unowned self] in accept($0) }
        self.listener = listener
        endpoint = listener.endpoint
        daemon = startDaemon()
        watch = daemon.flatMap { daemon in
            DescriptorWatch(
                loop: loop, descriptor: martlet_epoll_descriptor(daemon), for: .readable, action: { [self] in run() },
                abandoned: { [self] in close() })
        }
        if watch == nil {
            close()
            throw TransportError(.resources, "\(endpoint): out of memory or descriptors")
        }
    }

    deinit {
        precondition(daemon == nil, "an admin endpoint is closed before it is let go of")
    }

    /// Ends at once: accepts no more, tells those who wait for an answer that none comes, closes every connection. The
    /// end of the loop does the same.
    public func close() {
        loop.assertOnLoop()
        listener?.close()
        listener = nil
        watch?.end()
        watch = nil
        arrived = []
        guard let daemon else { return }
        for exchange in pending.values {
            let told = exchange.onAbandoned
            exchange.answer(.error(503, "the server ends"))
            told?()
        }
        MHD_run(daemon)
        if let nextRun { loop.cancel(nextRun) }
        nextRun = nil
        self.daemon = nil
        MHD_stop_daemon(daemon)
        handler = nil
        onClosed = nil
    }

    private func accept(_ descriptor: Int32) {
        guard let daemon else {
            _ = Glibc.close(descriptor)
            return
        }
        makeRoom(for: PeerHost(descriptor))
        // Without memory for it the connection is closed.
        MHD_add_connection(daemon, descriptor, nil, 0)
        run()
    }

    /// Has libmicrohttpd do what there is to do, then the handler.
    private func run() {
        guard let daemon else { return }
        MHD_run(daemon)
        var exchanges: [AdminExchange] = []
        swap(&exchanges, &arrived)
        for exchange in exchanges where exchange.isPending {
            handler?(exchange)
            if exchange.isPending { exchange.waitForAnswer() }
        }
        // Data that it has read already make no event. It has no other timeouts: AdminClient's bound its connections.
        var milliseconds: UInt64 = 0
        if self.daemon != nil, MHD_get_timeout(daemon, &milliseconds) == .YES { runSoon() }
    }

    /// Ends the wait of a connection; without a thread of its own libmicrohttpd makes no event of this.
    func resume(_ connection: OpaquePointer) {
        MHD_resume_connection(connection)
        runSoon()
    }

    private func runSoon() {
        guard nextRun == nil else { return }
        nextRun = loop.schedule(after: .zero) { [self] in
            nextRun = nil
            run()
        }
    }

    /// The next place in the order in which connections begin to wait for a request.
    func nextWaitNumber() -> Int {
        waitNumber += 1
        return waitNumber
    }

    func beginsToWait(_ exchange: AdminExchange) -> Bool {
        guard pending.count < configuration.pendingMax else { return false }
        pending[ObjectIdentifier(exchange)] = exchange
        arrived.append(exchange)
        return true
    }

    func endsToWait(_ exchange: AdminExchange) {
        pending[ObjectIdentifier(exchange)] = nil
    }

    /// Whether so many more bytes may be kept.
    func holds(_ count: Int) -> Bool {
        guard bytesHeld + count <= configuration.bytesHeldMax else { return false }
        bytesHeld += count
        return true
    }

    func letsGo(of count: Int) {
        bytesHeld -= count
    }
}
