/// A loop that has its own iterations, but shares the thread, the time and the network of a virtual loop. The nested
/// loop separates the code under test from its peers, which run on the virtual loop.
///
/// `@unchecked Sendable`: used on the host's thread only.
public final class NestedLoop: EventLoop, @unchecked Sendable {
    private unowned let host: VirtualLoop
    /// The function that is called with `true` before code of this loop runs, and with `false` after the code has run.
    /// Each call to the network also counts as an interruption, with `false` before the call and `true` after it.
    public var onSwitch: (_ runs: Bool) -> Void = { _ in }

    /// Creates the loop. The host must not be running, and must outlive the nested loop.
    public init(on host: VirtualLoop) {
        self.host = host
        super.init(now: host.now)
        host.add(self)
    }

    public override func nextRandom() -> UInt64 { host.nextRandom() }

    /// Runs an iteration if there is work or a due timer.
    func runIteration() {
        guard hasWork || nextTimer.map({ $0 <= now.monotonic }) ?? false else { return }
        inside { finishIteration() }
    }

    fileprivate func inside(_ body: () -> Void) {
        onSwitch(true)
        body()
        onSwitch(false)
    }

    fileprivate func outside<Result>(_ body: () -> Result) -> Result {
        onSwitch(false)
        defer { onSwitch(true) }
        return body()
    }

    public override func connect(
        to endpoint: Endpoint, options: ConnectOptions, handler: ByteStreamHandler
    ) -> ByteTransport {
        assertOnLoop()
        let transport = NestedTransport(on: self, handler: handler)
        outside {
            let handler = NestedStreamHandler(transport, on: self)
            transport.stream = host.connect(to: endpoint, options: options, handler: handler)
        }
        return transport
    }
}

/// A stream of the virtual network for a nested loop.
private final class NestedTransport: ByteTransport {
    private unowned let nestedLoop: NestedLoop
    /// The stream on the host, released after its end, like its handler.
    var stream: ByteTransport?

    init(on nestedLoop: NestedLoop, handler: ByteStreamHandler) {
        self.nestedLoop = nestedLoop
        super.init(loop: nestedLoop, handler: handler)
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Int { nestedLoop.outside { stream?.write(bytes) ?? 0 } }
    override func pauseReading() { nestedLoop.outside { stream?.pauseReading() } }
    override func resumeReading() { nestedLoop.outside { stream?.resumeReading() } }
    override func finishWriting() { nestedLoop.outside { stream?.finishWriting() } }
    override func close() { nestedLoop.outside { stream?.close() } }
    override func reset() { nestedLoop.outside { stream?.reset() } }
}

/// A handler that forwards the events of a stream to the nested loop's handler.
private final class NestedStreamHandler: ByteStreamHandler {
    private unowned let nestedLoop: NestedLoop
    private let transport: NestedTransport

    init(_ transport: NestedTransport, on nestedLoop: NestedLoop) {
        self.nestedLoop = nestedLoop
        self.transport = transport
    }

    override func connected(_: ByteTransport) { nestedLoop.inside { transport.handler?.connected(transport) } }
    override func received(_ bytes: UnsafeRawBufferPointer) { nestedLoop.inside { transport.handler?.received(bytes) } }
    override func writable() { nestedLoop.inside { transport.handler?.writable() } }
    override func peerFinished() { nestedLoop.inside { transport.handler?.peerFinished() } }

    override func closed(_ error: TransportError?) {
        transport.stream = nil
        nestedLoop.inside {
            let handler = transport.handler
            transport.handler = nil
            handler?.closed(error)
        }
    }
}
