package import AMQP
import BrokerTopology
package import Configuration
package import EventLoop

/// One pass through a queue, from its head to the message that was the last one when the scan started. The comments
/// about dead letters also apply to unrouted results and waiting requests.
///
/// The scan consumes with a prefetch window. Messages that the caller does not acknowledge stay unacknowledged until
/// `close`. Closing the channel requeues them together, in their order, in front of newer messages. Up to RabbitMQ 4.2,
/// each requeue counts as a failed delivery. A queue with a delivery limit (20 by default since 4.0) discards messages
/// that exceed the limit. A scan therefore stops before the limit. `close` publishes a message again if one more failed
/// delivery would reach the limit.
///
/// RabbitMQ 3.10 puts requeued messages in front of the queue, but behind messages requeued earlier. To preserve the
/// order, a scan always consumes as many messages as the window permits. The exception is a wait queue at a limited
/// rate. The order of a wait queue does not matter, and an unacknowledged request misses its scheduled return.
package final class DeadLetterScan {
    /// Maximum number of unacknowledged dead letters: the largest prefetch of AMQP.
    package static let windowMax = 65_535
    /// Bytes of received, unread messages at which the connection stops reading.
    static let bufferBytesMax = 64 << 20
    /// Maximum size of a body that is kept.
    package static let messageBytesMax = 16 << 20
    /// Maximum duration of a scan. RabbitMQ requeues unacknowledged messages after 30 minutes (`consumer_timeout`).
    package static let heldSecondsMax = 1500
    /// Distance to the queue's delivery limit at which a scan ends.
    package static let deliveriesSpared = 5
    private static let deadlineSeconds = 15
    /// Maximum time that a message waits before it is sent.
    private static let publishSeconds = 5
    private static let quietMilliseconds = 500
    /// Number of consecutive polls of an empty queue after which the scan ends, because another consumer has the
    /// remaining messages.
    private static let quietPollsMax = 20
    /// The equivalent of `quietPollsMax` for a wait queue, whose requests expire.
    private static let quietPollsOfWaitsMax = 2
    private static let requeuePollMilliseconds = 20
    private static let requeuePollsMax = 500

    package enum End: Equatable {
        /// The end after the last message that was present at the start and that no other consumer has.
        case complete
        /// A stop by the caller.
        case enough
        /// A window full of unacknowledged messages, so that the broker sends no further messages.
        case windowFull
        case tooLong
        case interrupted(Interruption.Signal)
        case lost(AMQPError)
        /// A message close to the delivery limit.
        case worn(deliveries: Int)
    }

    package let queue: String
    /// Ready messages at the start.
    package private(set) var total = 0
    /// Other consumers at the start, which may have messages that the scan does not see.
    package private(set) var otherConsumers = 0
    /// Messages returned by `next`.
    package private(set) var seen = 0
    /// Messages that the caller has acknowledged.
    package private(set) var acknowledgedCount = 0
    private var arrivedCount = 0
    package private(set) var end: End?
    /// The number of unacknowledged messages that the caller is publishing. The caller acknowledges a message if the
    /// broker confirms its publish.
    package var takenCount = 0

    package let loop: EventLoop
    package let source: MessageSource
    private let names: TopologyNames
    /// The delivery limit of the queue; nil without a limit.
    let deliveryLimit: Int?
    /// Maximum number of unacknowledged messages.
    package let window: Int
    private let connector: BrokerConnector
    private let control: BrokerConnection
    private let admin: BrokerAdmin
    private let publisher: Publisher
    private let consumer: Consumer
    private let consumed: BrokerConnection
    private let interruption: Interruption?
    private var interruptionEnd: InterruptionEnd?
    private let connectionHandler: SessionHandler
    private let publisherHandler: SessionHandler
    private var buffer: [IncomingMessage] = []
    private var bufferStart = 0
    private var bufferBytes = 0
    private var isPaused = false
    private var worn: [IncomingMessage] = []
    private var waiter: UnsafeContinuation<Void, Never>?
    private var quietPolls = 0
    private var hasLostChannel = false

    /// Whether the caller has read every message that was ready at the start. False if other consumers may have some.
    package var isComplete: Bool { end == .complete && bufferStart == buffer.count && otherConsumers == 0 }

    /// Whether the scan ended early and requeues received, unread messages.
    package var isCutShort: Bool {
        switch end {
        case nil, .complete, .windowFull: false
        case .enough, .tooLong, .interrupted, .lost, .worn: true
        }
    }

    /// Creates a scan. `open` starts it.
    ///
    /// - Parameters:
    ///   - interruption: the signals that end the scan; nil without signals.
    ///   - connectionHandler: receives the status of the control connection.
    ///   - publisherHandler: receives the broker's refusal of a user ID.
    package init(
        of queue: String, _ source: MessageSource, _ connector: BrokerConnector, on loop: EventLoop,
        _ interruption: Interruption?, deliveryLimit: Int?, window: Int = windowMax,
        connectionHandler: SessionHandler = SessionHandler(), publisherHandler: SessionHandler = SessionHandler()
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
        // The consumer does not keep the bodies of unacknowledged messages.
        configuration.bodyBytesInFlightMax = .max
        consumer = Consumer(on: consumed, configuration: configuration)
    }

    /// Checks that another queue exists. Call this function before `open`.
    ///
    /// - Throws: `notFound` if the queue does not exist, or another error of the broker or the connection.
    package func verifyQueue(_ queue: String) async throws(AMQPError) {
        startControl()
        _ = try await admin.status(ofQueue: queue)
    }

    /// Reads the number of messages, and starts consuming unless the queue is empty. From then on, a signal ends the
    /// scan.
    ///
    /// - Throws: `notFound` if the queue does not exist, or another error of the broker or the connection.
    package func open() async throws(AMQPError) {
        startControl()
        let status = try await admin.status(ofQueue: queue)
        interruption?.hasBegun = true
        (total, otherConsumers) = (status.messages, status.consumers)
        if let interruption {
            let interruptionEnd = InterruptionEnd(self)
            self.interruptionEnd = interruptionEnd
            interruption.add(interruptionEnd)
            if let signal = interruption.signal { finish(.interrupted(signal)) }
        }
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

    /// Returns the next dead letter; nil at the end of the scan.
    package func next() async -> IncomingMessage? {
        while true {
            if let message = popBuffer() { return message }
            guard end == nil else { return nil }
            let before = arrivedCount
            await change(within: .milliseconds(Self.quietMilliseconds))
            if before == arrivedCount, end == nil { await checkForMoreMessages() } else { quietPolls = 0 }
        }
    }

    /// Returns the next message of a choice; nil at the end of the scan.
    package func next(of choice: DeadLetterChoice) async -> FoundMessage? {
        while let message = await next() {
            let found = FoundMessage(message, source, connector.provenance(of: message))
            if choice.matches(found.letter, found.copy, nowUnixMilliseconds: loop.now.unixMilliseconds) { return found }
        }
        return nil
    }

    /// Acknowledges a message that was published elsewhere or is to be removed.
    package func acknowledge(_ tag: DeliveryTag) {
        acknowledgedCount += 1
        consumer.acknowledge(tag)
    }

    /// Returns whether the channel of a delivery is still open, so that an acknowledgment reaches the broker.
    package func holds(_ tag: DeliveryTag) -> Bool { consumer.holds(tag) }

    package func stop(_ reason: End = .enough) { finish(reason) }

    /// Publishes on the control connection.
    package func publish(_ message: OutgoingMessage) async -> PublishOutcome {
        await publisher.publishWithoutRefusedUserID(message)
    }

    /// Requeues the unacknowledged messages and closes the connections. Replaces messages that are at most one failed
    /// delivery below the limit with new messages instead, unless they are oversized.
    ///
    /// - Returns: whether the broker has certainly removed all acknowledged messages.
    @discardableResult package func close() async -> Bool {
        finish(.enough)
        resumeReading()
        var isSettled = await waitUntilSettled()
        if !worn.isEmpty {
            await renewWorn()
            isSettled = await waitUntilSettled() && isSettled
        }
        // From here on, the scan itself closes the channel.
        isSettled = isSettled && !hasLostChannel
        let held = consumer.unsettledCount
        // The broker requeues unacknowledged messages together, in order, when their channel closes.
        await consumed.close()
        await waitUntilRequeued(held)
        await control.close()
        if let interruptionEnd { interruption?.remove(interruptionEnd) }
        interruptionEnd = nil
        return isSettled
    }

    /// Waits until the broker has applied all acknowledgments. The broker's reply follows all messages in flight,
    /// possibly the whole queue. The wait continues while messages arrive. Returns false if the reply does not arrive.
    private func waitUntilSettled() async -> Bool {
        var before: Int
        repeat {
            before = arrivedCount
            if await consumer.waitUntilSettled(by: loop.now.monotonic + .seconds(Self.deadlineSeconds)) { return true }
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
        // A scan that read every message can still be interrupted.
        if !isCutShort, reason != .enough { end = reason }
        end = end ?? reason
        switch reason {
        // The reply to a later `basic.cancel` confirms the acknowledgments.
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

    /// Ends the scan if no more messages will arrive, or if the broker does not return the queue's status. No more
    /// messages arrive if other consumers have the rest, or if the window is full and the caller publishes no message.
    private func checkForMoreMessages() async {
        if consumer.unsettledCount >= window {
            if takenCount == 0 { finish(.windowFull) }
            return
        }
        do {
            let status = try await admin.status(ofQueue: queue)
            quietPolls = status.messages == 0 ? quietPolls + 1 : 0
            // Messages in flight to this consumer are not ready, and a busy broker sends them with delay.
            if quietPolls >= (source == .waits ? Self.quietPollsOfWaitsMax : Self.quietPollsMax) { finish(.complete) }
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

    /// Waits for a limited time until the broker has requeued all messages. The broker requeues messages some time
    /// after the channel closes, and the next scan should see all messages.
    private func waitUntilRequeued(_ count: Int) async {
        for _ in 0..<Self.requeuePollsMax where count > 0 {
            guard let status = try? await admin.status(ofQueue: queue), status.messages < count else { return }
            await loop.sleep(for: .milliseconds(Self.requeuePollMilliseconds))
        }
    }

    /// Publishes again each message that is at most one failed delivery below the delivery limit. Acknowledges the old
    /// message if the broker confirms the new message. Skips oversized messages.
    private func renewWorn() async {
        // The body of an oversized message was not kept.
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
