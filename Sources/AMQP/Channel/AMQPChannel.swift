public import EventLoop

/// One channel of a connection. The channel reopens after its own loss and after a loss of the connection, until
/// `close`.
///
/// An error on a channel closes only this channel. `ChannelMachine` decides the state of the channel. A
/// `ChannelHandler` uses the channel.
public final class AMQPChannel {
    public let connection: BrokerConnection
    public let loop: EventLoop
    public private(set) var status = BrokerStatus.idle
    /// The channel number, which reopening does not change; 0 before `start`.
    var number: UInt16 = 0

    private var machine: ChannelMachine
    private var assembler: ContentAssembler
    private var handler: ChannelHandler?
    private let ownsConnection: Bool
    private let deadline: DeadlineTimer
    private let retry: DeadlineTimer
    private let readyWaiters = ContinuationList<AMQPError?>()
    private let closeWaiters = ContinuationList<Void>()

    /// Creates a channel, which `start` opens.
    ///
    /// - Parameter ownsConnection: whether closing the channel closes the connection.
    init(on connection: BrokerConnection, _ options: ChannelOptions, ownsConnection: Bool) {
        self.connection = connection
        self.ownsConnection = ownsConnection
        loop = connection.loop
        machine = ChannelMachine(options, connection.configuration)
        assembler = ContentAssembler(bodyBytesMax: options.bodyBytesMax)
        deadline = DeadlineTimer(on: loop)
        retry = DeadlineTimer(on: loop)
    }

    /// Starts the connection if necessary, and opens the channel once the connection is open. Later calls do nothing.
    func start(_ handler: ChannelHandler) {
        loop.assertOnLoop()
        guard case .idle = machine.state, number == 0 else { return }
        self.handler = handler
        connection.attach(self)
        connection.start()
    }

    func waitUntilReady(deadlineSeconds: Int) async throws(AMQPError) {
        loop.assertOnLoop()
        switch status {
        case .ready, .blocked: return
        case .closed: throw ConnectionMachine.closedByUs
        case .waiting(let error, _) where !error.isRetriable: throw error
        case .idle, .connecting, .waiting, .disconnected: break
        }
        if let failure = connection.failure, !failure.isRetriable { throw failure }
        let error = await readyWaiters.wait(on: loop, for: .seconds(deadlineSeconds)) { [self] in
            let missing = connection.isOpen ? "no open channel" : "no connection to the broker"
            return failure ?? AMQPError(.timedOut, "\(missing) within \(deadlineSeconds) s")
        }
        if let error { throw error }
    }

    func close(deadlineSeconds: Int) async {
        loop.assertOnLoop()
        if ownsConnection { return await connection.close(deadlineSeconds: deadlineSeconds) }
        if machine.isOpen { handler?.flush(isLast: true) }
        handle(.close(deadlineSeconds: deadlineSeconds))
        if status != .closed { await closeWaiters.wait() }
    }

    /// The failure of the channel or its connection, while one of them waits for its next attempt; otherwise nil.
    var failure: AMQPError? {
        if case .waiting(let error, _) = status { error } else { connection.failure }
    }

    var isSetUp: Bool { machine.isSetUp }

    /// Whether the channel is set up and its connection is open.
    var isUsable: Bool { machine.isSetUp && connection.isOpen }

    /// Whether a message can be published now.
    var acceptsPublishes: Bool { machine.isReady && connection.acceptsPublishes }

    // MARK: - Functions for the handler

    /// Sends a method if the channel is open. Returns false if the arguments of the method cannot be encoded.
    @discardableResult
    func send(_ method: ClientMethod) -> Bool {
        guard machine.isOpen, let frames = connection.frames else { return true }
        return frames.send(method, channel: number)
    }

    func acknowledge(_ deliveryTag: UInt64, multiple: Bool) {
        connection.frames?.acknowledge(deliveryTag, multiple: multiple, channel: number)
    }

    /// Publishes a message and returns its size on the wire in bytes. Requires `acceptsPublishes`.
    func publish(_ message: OutgoingMessage, userID: String?) throws(PublishRefusal) -> Int {
        try connection.frames?.publish(message, channel: number, userID: userID) ?? 0
    }

    /// Schedules the handler's `flush` at the end of this event-loop iteration.
    func flushAfterIteration() {
        connection.frames?.flushAfterIteration()
    }

    /// Reports that the handler has set the channel up, or has resumed its operation after an interruption.
    func setupCompleted() { handle(.setupCompleted) }

    /// Reports that the broker ended the handler's operation, such as its consumer. Returns the time of the retry; nil
    /// if the channel is not open.
    func interrupted(_ error: AMQPError) -> MonotonicTime? {
        handle(.interrupted(error))
        return if case .interrupted(let retry) = machine.state { retry.at } else { nil }
    }

    /// Starts a timeout of `openingDeadlineSeconds`, unless the connection closes. Abandons the channel unless
    /// `setupCompleted` or `answered` is called in time. If reading is paused when the timeout ends, the timeout
    /// restarts.
    func expectAnswer() {
        guard !connection.isClosing else { return }
        armDeadline(seconds: connection.configuration.openingDeadlineSeconds)
    }

    func answered() { deadline.cancel() }

    /// Closes the channel after an error, such as misbehavior of the broker, and reopens it after a delay.
    func abandon(_ error: AMQPError) { handle(.abandon(error)) }

    /// Closes a channel that is set up, and reopens it immediately.
    func renew(_ error: AMQPError) { handle(.renew(error)) }

    // MARK: - Functions for the connection

    func connectionOpened(_ frames: FrameConnection) {
        guard number > frames.channelMax else { return handle(.connectionOpened) }
        let text = AMQPError.tooFewChannels(frames.channelMax, needed: connection.channelCount)
        handle(.connectionRefused(AMQPError(.refused, text, isRetriable: false)))
    }

    func connectionLost(_ error: AMQPError) {
        handle(.connectionLost(error))
        // Only a change of the configuration can help, so waiting tasks fail immediately.
        if !error.isRetriable { readyWaiters.resume(returning: error) }
    }

    func connectionCloses() {
        if machine.isOpen { handler?.flush(isLast: true) }
        deadline.cancel()
        retry.cancel()
    }

    func connectionReleased() { handle(.connectionReleased) }

    func flush() { handler?.flush(isLast: false) }

    /// Handles a method on this channel. Returns false if the method is out of order.
    func received(_ method: ServerMethod) -> Bool {
        switch method {
        case .channelOpenOK:
            guard case .opening = machine.state else { return machine.isClosing }
            handle(.openAnswered)
            return true
        case .channelClose(let close):
            guard machine.isOpen || machine.isClosing else { return false }
            handle(.closedByBroker(AMQPError(close)))
            return true
        case .channelCloseOK where machine.isClosing:
            handle(.closeAnswered)
            return true
        case .basicGetOK(let delivery):
            return announced(delivery.exchange, delivery.routingKey) { $0.received(method) }
        case .basicReturn(let returned):
            return announced(returned.exchange, returned.routingKey) { $0.received(method) }
        default:
            guard machine.isOpen, let handler else { return machine.isClosing }
            return !assembler.isBusy && handler.received(method)
        }
    }

    /// Handles `basic.deliver` on this channel. Returns false if the method is out of order.
    func received(_ delivery: ServerMethod.Delivery) -> Bool {
        announced(delivery.exchange, delivery.routingKey) { $0.received(delivery) }
    }

    /// Expects content if the handler accepts the method that announces the content. Returns false if the method is
    /// out of order.
    private func announced(
        _ exchange: UnsafeRawBufferPointer, _ routingKey: UnsafeRawBufferPointer, _ accept: (ChannelHandler) -> Bool
    ) -> Bool {
        guard machine.isOpen, let handler else { return machine.isClosing }
        guard !assembler.isBusy, accept(handler) else { return false }
        assembler.begin(exchange: exchange, routingKey: routingKey)
        return true
    }

    /// Handles a content header frame. Returns false if the frame is out of order, or if the frame or the complete
    /// content is invalid.
    func receivedHeader(_ payload: UnsafeRawBufferPointer) -> Bool {
        machine.isClosing || assembled(assembler.header(payload))
    }

    /// Handles a content body frame. Returns false if the frame is out of order, or if the frame or the complete
    /// content is invalid.
    func receivedBody(_ payload: UnsafeRawBufferPointer) -> Bool {
        machine.isClosing || assembled(assembler.body(payload))
    }

    private func assembled(_ step: ContentAssembler.Step) -> Bool {
        switch step {
        case .incomplete: true
        case .violation: false
        case .complete: handler?.received(assembler.removeContent()) ?? false
        }
    }

    private func handle(_ event: ChannelMachine.Event) {
        let actions = machine.handle(
            event, reopens: !connection.isClosing, now: loop.now.monotonic, random: loop.nextRandom)
        for action in actions { perform(action) }
    }

    private func perform(_ action: ChannelMachine.Action) {
        switch action {
        case .send(let method): _ = connection.frames?.send(method, channel: number)
        case .setUp: handler?.opened()
        case .armDeadline(let seconds):
            deadline.cancel()
            armDeadline(seconds: seconds)
        case .cancelDeadline: deadline.cancel()
        case .armRetry(let time):
            retry.cancel()
            retry.arm(at: time, for: self) { $0.handle(.retryDue) }
        case .cancelRetry: retry.cancel()
        case .failConnection(let error): connection.frames?.reset(error)
        case .lose(let error):
            assembler.reset()
            handler?.lost(error)
        case .report: report()
        case .detach: connection.detach(self)
        }
    }

    private func armDeadline(seconds: Int) {
        deadline.arm(at: loop.now.monotonic + .seconds(seconds), for: self) { channel in
            channel.handle(.deadlinePassed(isPaused: channel.connection.frames?.isPaused == true))
        }
    }

    /// Reports the status if it has changed, and resumes the tasks that wait for the new status.
    func report() {
        guard let new = BrokerStatus(machine.state, on: connection.machine.state), new != status else { return }
        status = new
        handler?.statusChanged(new)
        switch new {
        case .ready, .blocked: readyWaiters.resume(returning: nil)
        case .waiting(let error, _): if !error.isRetriable { readyWaiters.resume(returning: error) }
        case .closed:
            handler = nil
            readyWaiters.resume(returning: ConnectionMachine.closedByUs)
            closeWaiters.resume(returning: ())
        case .idle, .connecting, .disconnected: break
        }
    }
}
