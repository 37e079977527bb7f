public import EventLoop

/// A connection to a broker. The connection reopens after every loss, until `close`. The connection carries
/// the channels of consumers, publishers and administration. An error on one channel does not affect the others.
///
/// A broker under a memory or disk alarm stops reading from a connection that has published. Acknowledgments on this
/// connection then remain unread, too. Publishers therefore use a separate connection.
///
/// A connection belongs to one loop, and is used on the thread of this loop only.
public final class BrokerConnection {
    /// The largest number of channels on one connection.
    public static let channelsMax = 256

    public let loop: EventLoop
    public private(set) var status = BrokerStatus.idle
    /// The broker's properties, such as `product`, `version` and `capabilities`. Empty before the first login starts.
    public private(set) var serverProperties = FieldTable()
    /// The highest channel number that both sides agreed on; nil before the first login.
    public private(set) var channelMax: Int?

    let configuration: ConnectionConfiguration
    private(set) var machine: ConnectionMachine
    /// The current stream, from the attempt to open it until its end; otherwise nil.
    private(set) var frames: FrameConnection?
    /// The connectors, in the order of the attempts.
    private let connectors: [ByteConnector]
    private var handler: SessionHandler?
    /// The attached channels. The channel number is the index plus 1.
    private var channels: [AMQPChannel?] = []
    /// The number of calls of `pauseReading` without a matching `resumeReading`.
    private var pauses = 0
    private let deadline: DeadlineTimer
    private let retry: DeadlineTimer
    private let closeWaiters = ContinuationList<Void>()

    /// Creates a connection, which `start` opens.
    ///
    /// - Parameter connectors: one for each host of the broker's cluster, at least one. The connection uses the
    ///   connectors in random order.
    public init(loop: EventLoop, connectors: [ByteConnector], configuration: ConnectionConfiguration) {
        precondition(!connectors.isEmpty, "a connection needs at least one connector")
        self.loop = loop
        self.configuration = configuration
        self.connectors = Self.shuffled(connectors, loop)
        machine = ConnectionMachine(configuration: configuration, endpoints: self.connectors.map(\.endpoint))
        deadline = DeadlineTimer(on: loop)
        retry = DeadlineTimer(on: loop)
    }

    private static func shuffled(_ connectors: [ByteConnector], _ loop: EventLoop) -> [ByteConnector] {
        var connectors = connectors
        for index in connectors.indices.dropFirst() {
            connectors.swapAt(index, Int(loop.nextRandom() % UInt64(index + 1)))
        }
        return connectors
    }

    /// Connects, and reconnects after every loss until `close`. Later calls do nothing.
    public func start(_ handler: SessionHandler? = nil) {
        loop.assertOnLoop()
        guard case .idle = machine.state else { return }
        self.handler = handler
        handle(.start)
    }

    /// Sends all pending output, then closes the channels and the connection. Resets the connection if the login is not
    /// complete, or if the broker does not answer within `deadlineSeconds`.
    public func close(deadlineSeconds: Int = 5) async {
        loop.assertOnLoop()
        if case .closed = machine.state { return }
        handle(.close(deadlineSeconds: deadlineSeconds))
        if case .closed = machine.state { return }
        await closeWaiters.wait()
    }

    /// The failure of the connection, while the connection waits for the next attempt; otherwise nil.
    var failure: AMQPError? {
        if case .waiting(let retry) = machine.state { retry.error } else { nil }
    }

    /// Whether the connection is closed or about to close for good.
    var isClosing: Bool { machine.isClosing }

    /// Whether the connection is open, and the broker accepts publishes on it.
    var acceptsPublishes: Bool { machine.acceptsPublishes && frames?.isActive == true }

    /// Whether the login has succeeded and the connection is neither closing nor lost.
    var isOpen: Bool { machine.isOpen && frames?.isActive == true }

    private func handle(_ event: ConnectionMachine.Event) {
        for action in machine.handle(event, now: loop.now.monotonic, random: loop.nextRandom) { perform(action) }
    }

    private func perform(_ action: ConnectionMachine.Action) {
        switch action {
        case .connect(let index): connect(connectors[index])
        case .send(let method): send(method)
        case .agree(let tuning): frames?.agree(tuning)
        case .openChannels: openChannels()
        case .reviewChannels: for channel in channels { channel?.report() }
        case .flushChannels: for channel in channels { channel?.connectionCloses() }
        case .loseChannels(let error): loseChannels(error)
        // The answer to the close must be read, even if channels have paused reading.
        case .resumeReading: frames?.resumeReading()
        case .finish(let reason): frames?.finish(reason)
        case .reset(let reason): frames?.reset(reason)
        case .armDeadline(let seconds):
            deadline.arm(at: loop.now.monotonic + .seconds(seconds), for: self) { $0.handle(.deadlinePassed) }
        case .armRetry(let time): retry.arm(at: time, for: self) { $0.handle(.retryDue) }
        case .cancelTimers:
            deadline.cancel()
            retry.cancel()
        case .report: report()
        case .release: release()
        }
    }

    private func connect(_ connector: ByteConnector) {
        let frames = FrameConnection(owner: self, outputBytesMax: configuration.outputBytesMax)
        self.frames = frames
        frames.open(connector)
    }

    private func send(_ method: ClientMethod) {
        guard let frames, !frames.send(method, channel: 0) else { return }
        switch method {
        case .connectionOpen:
            frames.reset(
                AMQPError(.invalidURL, "the virtual host's name is longer than 255 bytes", isRetriable: false))
        default:
            frames.reset(AMQPError(.invalidURL, "user and password do not fit into one frame", isRetriable: false))
        }
    }

    private func openChannels() {
        guard let frames else { return }
        channelMax = Int(frames.channelMax)
        for channel in channels { channel?.connectionOpened(frames) }
    }

    private func loseChannels(_ error: AMQPError) {
        frames = nil
        pauses = 0
        for channel in channels { channel?.connectionLost(error) }
    }

    private func report() {
        guard let new = BrokerStatus(machine.state), new != status else { return }
        status = new
        handler?.statusChanged(new)
    }

    private func release() {
        for channel in channels { channel?.connectionReleased() }
        channels = []
        report()
        // The handler usually retains the owner of this connection, which would be a reference cycle.
        handler = nil
        closeWaiters.resume(returning: ())
    }

    func streamOpened() { handle(.streamOpened) }

    func streamEnded(_ reason: AMQPError) { handle(.streamEnded(reason)) }

    /// Handles a method of the connection. Returns false if the method belongs to a channel.
    func received(_ method: ServerMethod) -> Bool {
        switch method {
        case .connectionStart(let start): loginStarted(start)
        case .connectionTune(let offered): handle(.login(.tune(offered)))
        case .connectionOpenOK: handle(.login(.openOK))
        case .connectionClose(let close): handle(.closedByBroker(AMQPError(close)))
        case .connectionCloseOK: handle(.closeAnswered)
        case .connectionBlocked(let reason): handle(.blocked(String(wire: reason)))
        case .connectionUnblocked: handle(.blocked(nil))
        default: return false
        }
        return true
    }

    private func loginStarted(_ start: ServerMethod.ConnectionStart) {
        guard let properties = FieldTable(content: start.serverProperties) else {
            frames?.reset(AMQPError(.protocolViolation, "the broker sent properties that cannot be read"))
            return
        }
        serverProperties = properties
        handle(
            .login(
                .start(
                    versionMajor: start.versionMajor, versionMinor: start.versionMinor,
                    mechanisms: String(wire: start.mechanisms))))
    }

    /// The number of attached channels.
    var channelCount: Int { channels.count { $0 != nil } }

    /// Assigns an unused number to the channel, which opens once the connection is open. While the connection closes
    /// for good, closes the channel instead.
    func attach(_ channel: AMQPChannel) {
        loop.assertOnLoop()
        guard !isClosing else { return channel.connectionReleased() }
        let index = channels.firstIndex { $0 == nil } ?? channels.count
        precondition(index < Self.channelsMax, "a connection has too many channels")
        channel.number = UInt16(index + 1)
        if index == channels.count { channels.append(channel) } else { channels[index] = channel }
        if machine.isOpen, let frames { channel.connectionOpened(frames) }
    }

    /// Releases the number of a closed channel.
    func detach(_ channel: AMQPChannel) {
        let index = Int(channel.number) - 1
        if channels.indices.contains(index), channels[index] === channel { channels[index] = nil }
    }

    /// Returns the attached channel with this number; nil if there is none.
    func channel(_ number: UInt16) -> AMQPChannel? {
        let index = Int(number) - 1
        return index >= 0 && index < channels.count ? channels[index] : nil
    }

    func flushChannels() {
        for channel in channels { channel?.flush() }
    }

    /// Resets the open connection, so that it reconnects to the next host after a delay. Does nothing if the broker has
    /// one host.
    func changeHost(_ error: AMQPError) {
        guard connectors.count > 1, isOpen else { return }
        frames?.reset(error)
    }

    /// Stops reading until `resumeReading` has been called as often as this function, or the connection is closed or
    /// lost.
    package func pauseReading() {
        pauses += 1
        if pauses == 1 { frames?.pauseReading() }
    }

    package func resumeReading() {
        guard pauses > 0 else { return }
        pauses -= 1
        if pauses == 0 { frames?.resumeReading() }
    }
}
