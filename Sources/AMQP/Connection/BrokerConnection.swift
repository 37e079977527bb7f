public import EventLoop

/// A connection to a broker that is opened again whenever it is lost, until it is closed. It carries the channels of
/// consumers, publishers and administration, which share nothing but its bytes: an error on one leaves the others alone.
///
/// A broker under a memory or disk alarm reads nothing more from a connection that has published, acknowledgements
/// included: publishers have a connection to themselves.
///
/// Belongs to one loop and is used on its thread only.
public final class BrokerConnection {
    /// Channels that one connection carries: as many as a worker may have queues, with room for administration.
    public static let channelsMax = 256

    private enum Phase {
        /// Before the first connection and between two. To: loggingIn.
        case disconnected
        /// To: open, disconnected.
        case loggingIn
        /// To: disconnected.
        case open
    }

    public let loop: EventLoop
    public private(set) var state = BrokerState.idle
    /// Called on the loop at each change of `state`.
    public var onStateChange: (BrokerState) -> Void = { _ in }
    /// What the broker says it is: `product`, `version`, its capabilities. Empty until the first login.
    public private(set) var serverProperties = FieldTable()

    let configuration: ConnectionConfiguration
    /// In the order in which they are tried.
    private let connectors: [ByteConnector]
    private var nextConnector = 0
    private(set) var endpoint: Endpoint
    private var backoff: Backoff
    private var phase = Phase.disconnected
    private var wire: WireConnection?
    /// By number, which is counted from 1.
    private var channels: [BrokerChannel?] = []
    /// Channels that want nothing to be read for now.
    private var pauses = 0
    private var retryTimer: TimerToken?
    private var deadlineTimer: TimerToken?
    private var closeTimer: TimerToken?
    /// Why the broker takes no publishes on this connection.
    private(set) var blockedReason: String?
    private var closeWaiters: [UnsafeContinuation<Void, Never>] = []
    private(set) var isClosing = false

    /// - Parameter connectors: one for each host of the broker's cluster, at least one; tried in random order.
    public init(loop: EventLoop, connectors: [ByteConnector], configuration: ConnectionConfiguration) {
        precondition(!connectors.isEmpty, "a connection needs a broker to connect to")
        self.loop = loop
        self.configuration = configuration
        self.connectors = Self.shuffled(connectors, loop)
        endpoint = connectors[0].endpoint
        backoff = Backoff(configuration)
    }

    private static func shuffled(_ connectors: [ByteConnector], _ loop: EventLoop) -> [ByteConnector] {
        var connectors = connectors
        for index in connectors.indices.dropFirst() {
            connectors.swapAt(index, Int(loop.nextRandom() % UInt64(index + 1)))
        }
        return connectors
    }

    /// Connects, and keeps connected until `close`. Calling it again does nothing.
    public func start() {
        loop.assertOnLoop()
        guard case .idle = state else { return }
        connect()
    }

    /// Ends the connection and its channels in order: what was handed over before is still sent. After `deadlineSeconds`
    /// without the broker's answer the connection is reset.
    public func close(deadlineSeconds: Int = 5) async {
        loop.assertOnLoop()
        guard state != .closed else { return }
        if !isClosing {
            isClosing = true
            cancelTimers()
            for channel in channels { channel?.connectionWillClose() }
            guard let wire else { return becomeClosed() }
            closeTimer = loop.schedule(after: .seconds(deadlineSeconds)) {
                wire.fail(AMQPError(.timedOut, "the broker did not answer the close"))
            }
            wire.close()
        }
        await withUnsafeContinuation { closeWaiters.append($0) }
    }

    /// Why it is not there, when something failed.
    var failure: AMQPError? {
        if case .waiting(let error, _) = state { error } else { nil }
    }

    private func setState(_ new: BrokerState) {
        guard state != new else { return }
        state = new
        onStateChange(new)
    }

    private func connect() {
        let connector = connectors[nextConnector]
        nextConnector = (nextConnector + 1) % connectors.count
        endpoint = connector.endpoint
        let wire = WireConnection(configuration: configuration, owner: self, endpoint: endpoint, loop: loop)
        self.wire = wire
        phase = .loggingIn
        setState(.connecting(endpoint))
        wire.open(connector)
    }

    /// The stream is open and the login begins. Steps before this one have the connector's limits.
    func loginBegan() {
        guard !isClosing else { return }
        let seconds = configuration.openingDeadlineSeconds
        deadlineTimer = loop.schedule(after: .seconds(seconds)) { [self] in
            deadlineTimer = nil
            wire?.fail(AMQPError(.timedOut, "the broker did not answer within \(seconds) seconds"))
        }
    }

    private func cancelTimers() {
        if let retryTimer { loop.cancel(retryTimer) }
        if let deadlineTimer { loop.cancel(deadlineTimer) }
        retryTimer = nil
        deadlineTimer = nil
    }

    func loginEnded() {
        guard let wire else { return }
        cancelTimers()
        phase = .open
        serverProperties = wire.serverProperties
        channelMax = Int(wire.channelMax)
        backoff.becameReady(now: loop.now.monotonic)
        setState(.ready)
        for channel in channels { channel?.connectionOpened(wire) }
    }

    /// The broker stopped taking publishes, or takes them again.
    func blocked(_ reason: String?) {
        blockedReason = reason
        guard case .open = phase, !isClosing else { return }
        setState(reason.map { .blocked(reason: $0) } ?? .ready)
        for channel in channels { channel?.connectionBlocked() }
    }

    func closed(_ error: AMQPError) {
        wire = nil
        phase = .disconnected
        blockedReason = nil
        pauses = 0
        cancelTimers()
        if let closeTimer { loop.cancel(closeTimer) }
        for channel in channels { channel?.connectionClosed(error) }
        guard !isClosing else { return becomeClosed() }
        let delay = backoff.failed(
            isRetriable: error.isRetriable, now: loop.now.monotonic, random: loop.nextRandom())
        retryTimer = loop.schedule(after: delay) { [self] in
            retryTimer = nil
            connect()
        }
        setState(.waiting(error, delay: delay))
        guard !error.isRetriable else { return }
        for channel in channels { channel?.connectionCannotOpen(error) }
    }

    private func becomeClosed() {
        for channel in channels { channel?.becomeClosed() }
        channels = []
        setState(.closed)
        // What it calls holds, as a rule, whoever owns this connection.
        onStateChange = { _ in }
        let waiters = closeWaiters
        closeWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// Channels that are attached.
    var channelCount: Int { channels.count { $0 != nil } }

    /// The highest number of a channel that both sides agreed on; nil before the first login.
    public private(set) var channelMax: Int?

    /// A number that no channel has.
    func freeChannelNumber() -> UInt16 {
        let index = channels.firstIndex { $0 == nil } ?? channels.count
        precondition(index < Self.channelsMax, "more channels than a connection carries")
        return UInt16(index + 1)
    }

    func attach(_ channel: BrokerChannel) {
        loop.assertOnLoop()
        guard !isClosing else { return channel.becomeClosed() }
        let index = Int(channel.number) - 1
        if index == channels.count { channels.append(channel) } else { channels[index] = channel }
        if case .open = phase, let wire { channel.connectionOpened(wire) }
    }

    /// The channel is closed; its number is free.
    func detach(_ channel: BrokerChannel) {
        let index = Int(channel.number) - 1
        if index < channels.count, channels[index] === channel { channels[index] = nil }
    }

    /// The channel of a frame.
    func channel(_ number: UInt16) -> BrokerChannel? {
        let index = Int(number) - 1
        return index >= 0 && index < channels.count ? channels[index] : nil
    }

    func willFlush() {
        for channel in channels { channel?.willFlush() }
    }

    /// Reads no more until each channel that asked for it has called `resumeReading`.
    package func pauseReading() {
        pauses += 1
        if pauses == 1 { wire?.pauseReading() }
    }

    package func resumeReading() {
        guard pauses > 0 else { return }
        pauses -= 1
        if pauses == 0 { wire?.resumeReading() }
    }
}

extension Backoff {
    init(_ configuration: ConnectionConfiguration) {
        self.init(
            least: .milliseconds(configuration.retryDelayMillisecondsMin),
            first: .milliseconds(configuration.retryDelayMilliseconds),
            longest: .milliseconds(configuration.retryDelayMillisecondsMax),
            healthyAfter: .seconds(configuration.healthyAfterSeconds))
    }
}
