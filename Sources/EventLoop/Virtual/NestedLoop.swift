/// A loop with turns of its own on the thread, time and network of a virtual loop, so that what it runs can be told from
/// what its peers do on the virtual loop.
///
/// `@unchecked Sendable`, as every loop: it is used on the thread that runs its host.
public final class NestedLoop: EventLoop, @unchecked Sendable {
    private unowned let host: VirtualLoop
    /// Called with `true` before something of this loop runs, and with `false` after it and for as long as it is in a
    /// call to the network.
    public var onSwitch: (_ runs: Bool) -> Void = { _ in }

    /// To be made while the host does not run; lives no longer than it.
    public init(on host: VirtualLoop) {
        self.host = host
        super.init(now: host.now)
        host.add(self)
    }

    public override func nextRandom() -> UInt64 { host.nextRandom() }

    /// Everything that is due, if anything is.
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

/// A stream of the virtual network as a nested loop uses it.
private final class NestedTransport: ByteTransport {
    private unowned let nestedLoop: NestedLoop
    /// Let go once it has ended, as is its handler.
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

/// Hands the events of a stream to the nested loop's handler.
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
