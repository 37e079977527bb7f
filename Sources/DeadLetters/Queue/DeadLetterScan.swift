package import AMQP
import BrokerTopology
package import Configuration
package import EventLoop

/// One way through a queue, from its head to what was its end when this began. What is said of dead letters here holds for
/// unrouted results and waiting requests, too.
///
/// Takes them with a window of its own and holds on to what is not acknowledged, until `close` gives all of it back at
/// once: unharmed, in order, in front of what has come meanwhile. Giving back counts as a delivery in vain up to
/// RabbitMQ 4.2, and a queue with a delivery limit (20 by default from 4.0 on) throws away what exceeds it: a scan ends
/// before that, and what stands at the very limit goes back as a new message.
///
/// What is given back stands in front of the queue, behind what was given back before and is there still (RabbitMQ 3.10).
/// So that nobody's order changes, a scan always takes as many as it can hold, however few are wanted. The exception is a
/// wait queue at a limited rate: order does not matter there, and a request that is held is not returned in time.
package final class DeadLetterScan {
    /// Dead letters that are held at most: AMQP's largest prefetch.
    package static let windowMax = 65_535
    /// Those that have come and were not looked at; at this many bytes the connection is not read until some are.
    static let bufferBytesMax = 64 << 20
    /// Larger bodies are not kept.
    package static let messageBytesMax = 16 << 20
    /// RabbitMQ takes back after 30 minutes what is held (`consumer_timeout`).
    package static let heldSecondsMax = 1500
    /// Deliveries in vain below the queue's limit at which a scan ends.
    package static let deliveriesSpared = 5
    private static let deadlineSeconds = 15
    /// How long a message waits to be sent: a connection that is lost ends the scan anyway.
    private static let publishSeconds = 5
    private static let quietMilliseconds = 500
    /// So many looks in a row without anything that came: somebody else has taken the rest.
    private static let quietLooksMax = 20
    /// The same for a wait queue, which requests leave by themselves.
    private static let quietLooksOfWaitsMax = 2
    private static let givenBackLookMilliseconds = 20
    private static let givenBackLooksMax = 500

    package enum End: Equatable {
        /// All that were there at the beginning have been seen.
        case complete
        /// The caller had enough.
        case enough
        /// So many are held that the broker sends no more.
        case windowFull
        case tooLong
        case interrupted(Interruption.Signal)
        case lost(AMQPError)
        /// One was delivered in vain so often that the queue is about to throw it away.
        case worn(deliveries: Int)
    }

    package let queue: String
    /// Dead letters that were ready at the beginning.
    package private(set) var total = 0
    /// Other consumers at the beginning, which may hold some that are not seen.
    package private(set) var otherConsumers = 0
    /// Those that were looked at; more may have come.
    package private(set) var seen = 0
    /// Those that the caller has acknowledged.
    package private(set) var acknowledgedCount = 0
    private var arrivedCount = 0
    package private(set) var end: End?
    /// Of those held, so many are being dealt with and will be acknowledged.
    package var takenCount = 0

    package let loop: EventLoop
    private let source: MessageSource
    private let names: TopologyNames
    /// nil: none.
    private let deliveryLimit: Int?
    /// Messages that the scan holds at most.
    package let window: Int
    private let connector: BrokerConnector
    private let control: BrokerConnection
    private let admin: BrokerAdmin
    private let publisher: Publisher
    private let consumer: Consumer
    private let consumed: BrokerConnection
    private let interruption: Interruption
    private var interruptionEnd: InterruptionEnd?
    private let connectionHandler: SessionHandler
    private let publisherHandler: SessionHandler
    private var buffer: [IncomingMessage] = []
    private var bufferStart = 0
    private var bufferBytes = 0
    private var isPaused = false
    private var worn: [IncomingMessage] = []
    private var waiter: UnsafeContinuation<Void, Never>?
    private var quietLooks = 0
    private var hasLostChannel = false

    /// Whether the caller has looked at every message of the queue. Other consumers may hold some.
    package var isComplete: Bool { end == .complete && bufferStart == buffer.count && otherConsumers == 0 }

    /// Whether what has come and was not looked at goes back unseen.
    package var isCutShort: Bool {
        switch end {
        case nil, .complete, .windowFull: false
        case .enough, .tooLong, .interrupted, .lost, .worn: true
        }
    }

    /// - Parameters:
    ///   - connectionHandler: receives the status of the connection that returns messages.
    ///   - publisherHandler: receives a refused user ID.
    package init(
        of queue: String, _ source: MessageSource, _ connector: BrokerConnector, on loop: EventLoop,
        _ interruption: Interruption, deliveryLimit: Int?, window: Int = windowMax,
        connectionHandler: SessionHandler, publisherHandler: SessionHandler
    ) {
        (self.connector, self.loop, self.window) = (connector, loop, window)
        self.interruption = interruption
        (self.connectionHandler, self.publisherHandler) = (connectionHandler, publisherHandler)
        self.deliveryLimit = deliveryLimit
        (self.queue, self.source, names) = (queue, source, connector.names)
        let name = source.command
        control = BrokerConnection(
            loop: loop, connectors: connector.connectors(on: loop), configuration: connector.connection(named: name))
        admin = BrokerAdmin(on: control, deadlineSeconds: Self.deadlineSeconds)
        var publishing = PublisherConfiguration()
        publishing.publishTimeoutSeconds = Self.publishSeconds
        publisher = Publisher(on: control, configuration: publishing)
        consumed = BrokerConnection(
            loop: loop, connectors: connector.connectors(on: loop), configuration: connector.connection(named: name))
        var configuration = ConsumerConfiguration(queue: queue, prefetch: window)
        configuration.messageBytesMax = Self.messageBytesMax
        // What is held is not kept here.
        configuration.bodyBytesInFlightMax = .max
        consumer = Consumer(on: consumed, configuration: configuration)
    }

    /// Before `open`.
    ///
    /// - Throws: `notFound` when there is no such queue.
    package func look(for queue: String) async throws(AMQPError) {
        startControl()
        _ = try await admin.status(ofQueue: queue)
    }

    /// Looks how many there are and begins to take them.
    package func open() async throws(AMQPError) {
        startControl()
        let status = try await admin.status(ofQueue: queue)
        interruption.hasBegun = true
        (total, otherConsumers) = (status.messages, status.consumers)
        let interruptionEnd = InterruptionEnd(self)
        self.interruptionEnd = interruptionEnd
        interruption.add(interruptionEnd)
        if let signal = interruption.signal { finish(.interrupted(signal)) }
        guard total > 0 else { return finish(.complete) }
        loop.schedule(after: .seconds(Self.heldSecondsMax)) { [weak self] in self?.finish(.tooLong) }
        consumed.start(ConnectionEvents(self))
        consumer.start(Arrivals(self))
    }

    private func startControl() {
        control.start(connectionHandler)
        admin.start()
        publisher.start(publisherHandler)
    }

    private final class InterruptionEnd: InterruptionHandler {
        private let scan: DeadLetterScan

        init(_ scan: DeadLetterScan) { self.scan = scan }

        override func interrupted(_ signal: Interruption.Signal) { scan.finish(.interrupted(signal)) }
    }

    private final class Arrivals: ConsumerHandler {
        private let scan: DeadLetterScan

        init(_ scan: DeadLetterScan) { self.scan = scan }

        override func delivered(_ message: consuming IncomingMessage) { scan.arrived(message) }

        override func channelLost() { scan.hasLostChannel = true }

        override func statusChanged(_ status: BrokerStatus) { scan.changed(status) }
    }

    private final class ConnectionEvents: SessionHandler {
        private let scan: DeadLetterScan

        init(_ scan: DeadLetterScan) { self.scan = scan }

        override func statusChanged(_ status: BrokerStatus) { scan.changed(status) }
    }

    /// The next dead letter; nil when the scan has ended.
    package func next() async -> IncomingMessage? {
        while true {
            if let message = popBuffer() { return message }
            guard end == nil else { return nil }
            let before = arrivedCount
            await change(within: .milliseconds(Self.quietMilliseconds))
            if before == arrivedCount, end == nil { await lookWhetherMoreWillCome() } else { quietLooks = 0 }
        }
    }

    /// It was published elsewhere, or is to be forgotten.
    package func acknowledge(_ tag: DeliveryTag) {
        acknowledgedCount += 1
        consumer.acknowledge(tag)
    }

    /// Whether an acknowledgement would still reach the broker.
    package func holds(_ tag: DeliveryTag) -> Bool { consumer.holds(tag) }

    package func stop(_ reason: End = .enough) { finish(reason) }

    /// Publishes on the connection beside that of the scan.
    package func publish(_ message: OutgoingMessage) async -> PublishOutcome {
        await publisher.publishWithoutRefusedUserID(message)
    }

    /// Gives back what is held and ends the connections.
    ///
    /// - Returns: whether all that was acknowledged is surely taken away.
    @discardableResult package func close() async -> Bool {
        finish(.enough)
        resumeReading()
        var isSettled = await untilSettled()
        if !worn.isEmpty {
            await renewWorn()
            isSettled = await untilSettled() && isSettled
        }
        // The end of the channel is ours from here on.
        isSettled = isSettled && !hasLostChannel
        let held = consumer.unsettledCount
        // What is held goes back together, in order, when its channel ends.
        await consumed.close()
        await untilGivenBack(held)
        await control.close()
        if let interruptionEnd { interruption.remove(interruptionEnd) }
        interruptionEnd = nil
        return isSettled
    }

    /// The answer stands behind all that is on its way, which may be the whole queue: as long as more comes it is waited
    /// for.
    private func untilSettled() async -> Bool {
        var before: Int
        repeat {
            before = arrivedCount
            if await consumer.untilSettled(by: loop.now.monotonic + .seconds(Self.deadlineSeconds)) { return true }
        } while arrivedCount > before
        return false
    }

    private func arrived(_ message: IncomingMessage) {
        arrivedCount += 1
        if let deliveryLimit, message.deliveryCount >= deliveryLimit - Self.deliveriesSpared {
            if message.deliveryCount >= deliveryLimit - 1 { worn.append(message) }
            return finish(.worn(deliveries: message.deliveryCount))
        }
        guard end == nil else { return }
        buffer.append(message)
        bufferBytes += message.content.bytes.count
        if bufferBytes >= Self.bufferBytesMax, !isPaused {
            isPaused = true
            consumed.pauseReading()
        }
        if arrivedCount == total { end = .complete }
        resumeWaiter()
    }

    private func popBuffer() -> IncomingMessage? {
        guard !isCutShort, bufferStart < buffer.count else { return nil }
        let message = buffer[bufferStart]
        bufferStart += 1
        seen += 1
        bufferBytes -= message.content.bytes.count
        if bufferStart == buffer.count || bufferStart >= 1024 {
            buffer.removeFirst(bufferStart)
            bufferStart = 0
        }
        if bufferBytes < Self.bufferBytesMax / 2 { resumeReading() }
        return message
    }

    private func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        consumed.resumeReading()
    }

    private func finish(_ reason: End) {
        // What was seen to the end may still be given up.
        if !isCutShort, reason != .enough { end = reason }
        end = end ?? reason
        switch reason {
        // The answer to a late `basic.cancel` says that what was acknowledged is.
        case .complete, .enough: break
        case .windowFull, .tooLong, .interrupted, .lost, .worn: consumer.pause()
        }
        resumeWaiter()
    }

    private func change(within time: Duration) async {
        let timer = loop.schedule(after: time) { [self] in resumeWaiter() }
        await withUnsafeContinuation { waiter = $0 }
        loop.cancel(timer)
    }

    private func resumeWaiter() {
        waiter?.resume()
        waiter = nil
    }

    /// Others may have taken some meanwhile, or the window is full.
    private func lookWhetherMoreWillCome() async {
        if consumer.unsettledCount >= window {
            if takenCount == 0 { finish(.windowFull) }
            return
        }
        do {
            let status = try await admin.status(ofQueue: queue)
            quietLooks = status.messages == 0 ? quietLooks + 1 : 0
            // Those on their way to us are no longer ready, and a busy broker takes its time to read them.
            if quietLooks >= (source == .waits ? Self.quietLooksOfWaitsMax : Self.quietLooksMax) { finish(.complete) }
        } catch {
            finish(.lost(error))
        }
    }

    private func changed(_ state: BrokerStatus) {
        switch state {
        case .waiting(let error, _): finish(.lost(error))
        case .idle, .connecting, .ready, .disconnected, .blocked, .closed: break
        }
    }

    /// The broker gives back some time after the channel has ended: whoever looks next should see all of it.
    private func untilGivenBack(_ count: Int) async {
        for _ in 0..<Self.givenBackLooksMax where count > 0 {
            guard let status = try? await admin.status(ofQueue: queue), status.messages < count else { return }
            await loop.sleep(for: .milliseconds(Self.givenBackLookMilliseconds))
        }
    }

    /// One more delivery in vain, and the queue would throw them away.
    private func renewWorn() async {
        // A body that was too large is not here to be published.
        for message in worn where consumer.holds(message.tag) && !message.isOversized {
            var renewed = RepublishableMessage(message, connector.provenance(of: message)).message(to: queue)
            if let exchange = source.renewalExchange(names) {
                (renewed.exchange, renewed.routingKey) = (exchange, message.routingKey)
            }
            if await publish(renewed) == .confirmed {
                consumer.acknowledge(message.tag)
            }
        }
        worn = []
    }
}
