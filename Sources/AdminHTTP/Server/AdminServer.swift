import CMicroHTTPD
public import EventLoop
import Glibc

/// A small HTTP/1.1 endpoint on an event loop, for operators, monitoring and scripts.
///
///     let server = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
///         exchange.answer(.json(Array("{}".utf8)))
///     }
///
/// libmicrohttpd reads and writes without a thread, because the loop watches libmicrohttpd's epoll descriptor. Call
/// all functions on the loop. The loop keeps the endpoint alive until `close()`.
public final class AdminServer {
    /// The listening address, with the actual port if port 0 was requested.
    public private(set) var endpoint: Endpoint

    let loop: EpollLoop
    let configuration: AdminConfiguration
    let hosts: TrustedHosts
    /// The receiver of complete requests. `close()` releases the handler, to break reference cycles.
    private var handler: ((AdminExchange) -> Void)?
    private var daemon: OpaquePointer?
    private var listener: ByteListener?
    private var watch: DescriptorWatch?
    private var nextRun: TimerToken?
    /// Complete requests that the handler has not received yet.
    private var arrived: [AdminExchange] = []
    private(set) var pending: [ObjectIdentifier: AdminExchange] = [:]
    private(set) var bytesHeld = 0
    /// All connections of libmicrohttpd, including shut connections that libmicrohttpd has not ended yet.
    var connectionCount = 0
    /// The connections that are not shut.
    var clients: [ObjectIdentifier: AdminClient] = [:]
    private var waitNumber = 0
    /// A closure that is called when the endpoint closes a connection because of a limit. The timeout of an idle
    /// connection or of a client that is gone is not reported.
    public var onClosed: ((AdminClosing) -> Void)?
    /// A closure that is called when the endpoint refuses a request because of its `Host` or `Origin` header.
    public var onForeign: ((ForeignRequest) -> Void)?
    /// Maximum connections that are shut but not ended. libmicrohttpd runs after each accept and ends them.
    static let closingMax = 64

    /// Creates an endpoint that listens at an address. Port 0 selects any free port.
    ///
    /// - Parameter handler: receives each complete request that the endpoint has not refused, and answers now or later.
    /// - Throws: `TransportError` if the address is unavailable, or memory or descriptors are exhausted.
    public convenience init(
        loop: EpollLoop, endpoint: Endpoint, configuration: AdminConfiguration = AdminConfiguration(),
        handler: @escaping (AdminExchange) -> Void
    ) throws(TransportError) {
        try self.init(loop, endpoint.host, configuration, handler) { accept throws(TransportError) in
            try loop.listen(on: endpoint, acceptDescriptor: accept)
        }
    }

    /// Creates an endpoint that listens on a Unix socket. Only this user may connect to the socket.
    ///
    /// - Parameters:
    ///   - isOpenToAll: whether every user of this machine may connect to the socket instead.
    ///   - handler: receives each complete request that the endpoint has not refused, and answers now or later.
    /// - Throws: `TransportError` if the path is unavailable, or memory or descriptors are exhausted.
    public convenience init(
        loop: EpollLoop, socketPath: String, isOpenToAll: Bool = false,
        configuration: AdminConfiguration = AdminConfiguration(), handler: @escaping (AdminExchange) -> Void
    ) throws(TransportError) {
        try self.init(loop, "localhost", configuration, handler) { accept throws(TransportError) in
            let listener = try loop.listen(onSocketAt: socketPath, acceptDescriptor: accept)
            guard isOpenToAll, chmod(socketPath, 0o666) != 0 else { return listener }
            let code = errno
            listener.close()
            throw TransportError(
                .resources, "cannot change the mode of \(socketPath): \(String(cString: strerror(code)))",
                underlying: code)
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
        precondition(daemon == nil, "close() was not called")
    }

    /// Stops accepting, answers pending requests with 503, and closes every connection immediately. The end of the
    /// loop does the same.
    public func close() {
        loop.assertOnLoop()
        listener?.close()
        listener = nil
        watch?.end()
        watch = nil
        arrived = []
        guard let daemon else { return }
        // A request that arrives from here on is refused. libmicrohttpd aborts the process if it stops with a suspended
        // connection.
        self.daemon = nil
        for exchange in pending.values {
            let onAbandoned = exchange.onAbandoned
            exchange.answer(.error(503, "the server is shutting down"))
            onAbandoned?()
        }
        MHD_run(daemon)
        if let nextRun { loop.cancel(nextRun) }
        nextRun = nil
        MHD_stop_daemon(daemon)
        handler = nil
        onClosed = nil
        onForeign = nil
    }

    private func accept(_ descriptor: Int32) {
        guard let daemon else {
            _ = Glibc.close(descriptor)
            return
        }
        makeRoom(for: PeerHost(descriptor))
        // If memory is exhausted, libmicrohttpd closes the connection.
        MHD_add_connection(daemon, descriptor, nil, 0)
        run()
    }

    /// Runs libmicrohttpd, then the handler for each request that has arrived. Schedules the next run if libmicrohttpd
    /// has more work.
    private func run() {
        guard let daemon else { return }
        MHD_run(daemon)
        var exchanges: [AdminExchange] = []
        swap(&exchanges, &arrived)
        for exchange in exchanges where exchange.isPending {
            handler?(exchange)
            if exchange.isPending { exchange.waitForAnswer() }
        }
        // Bytes that libmicrohttpd has buffered raise no event. libmicrohttpd has no other timeouts, because
        // `AdminClient` limits the time of each connection.
        var milliseconds: UInt64 = 0
        if self.daemon != nil, MHD_get_timeout(daemon, &milliseconds) == .YES { runSoon() }
    }

    /// Resumes a suspended connection. Without a thread, libmicrohttpd raises no event for the resumption, so a run is
    /// scheduled.
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

    /// Returns the next position in the order in which connections begin to wait for their clients.
    func nextWaitNumber() -> Int {
        waitNumber += 1
        return waitNumber
    }

    func addPending(_ exchange: AdminExchange) -> Bool {
        guard daemon != nil, pending.count < configuration.pendingMax else { return false }
        pending[ObjectIdentifier(exchange)] = exchange
        arrived.append(exchange)
        return true
    }

    func removePending(_ exchange: AdminExchange) {
        pending[ObjectIdentifier(exchange)] = nil
    }

    /// Reserves memory for `count` bytes. Returns false if the limit would be exceeded.
    func reserve(_ count: Int) -> Bool {
        guard bytesHeld + count <= configuration.bytesHeldMax else { return false }
        bytesHeld += count
        return true
    }

    func release(_ count: Int) {
        bytesHeld -= count
    }
}
