import AMQP
import EventLoop
import TestKit
import Testing

/// A test harness on virtual time, with clients of each kind and a scripted broker.
actor AMQPHarness {
    nonisolated let loop: VirtualLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let broker: ScriptedBroker
    var connection = ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest"))
    private(set) var deliveries: [IncomingMessage] = []
    private(set) var states: [String] = []

    private init(loop: VirtualLoop, seed: UInt64) {
        self.loop = loop
        broker = ScriptedBroker(loop: loop, seed: seed)
    }

    /// Runs `script` on virtual time. The script must end within `limit`.
    static func play(
        seed: UInt64 = 1, limit: Duration = .seconds(7200), sourceLocation: SourceLocation = #_sourceLocation,
        _ script: @escaping @Sendable (isolated AMQPHarness) async throws -> Void
    ) {
        let loop = VirtualLoop(seed: seed)
        let harness = AMQPHarness(loop: loop, seed: seed)
        loop.enter {
            _ = Task(executorPreference: loop) { await harness.perform(script, sourceLocation) }
        }
        let end = loop.run(limit: limit) { loop.isDone(harness) }
        #expect(end == .done, sourceLocation: sourceLocation)
        #expect(loop.jobsFromOtherThreads == 0, sourceLocation: sourceLocation)
        loop.end()
    }

    fileprivate nonisolated(unsafe) var isDone = false

    private func perform(
        _ script: @Sendable (isolated AMQPHarness) async throws -> Void, _ sourceLocation: SourceLocation
    ) async {
        do {
            try await script(self)
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
        // A connection and its channels retain each other until the connection is closed.
        for connection in opened { await connection.close(deadlineSeconds: 1) }
        // A broker and its listeners retain each other, too.
        broker.crash()
        isDone = true
    }

    private var opened: [BrokerConnection] = []
    private var consumerHandlers: [ObjectIdentifier: TestConsumerHandler] = [:]
    private var sessionHandlers: [ObjectIdentifier: TestSessionHandler] = [:]

    /// Returns the handler of a consumer. The first call creates the handler.
    func handler(of consumer: Consumer) -> TestConsumerHandler {
        let id = ObjectIdentifier(consumer)
        let handler = consumerHandlers[id] ?? TestConsumerHandler()
        consumerHandlers[id] = handler
        return handler
    }

    /// Returns the handler of a connection or a publisher. The first call creates the handler.
    func handler(of session: AnyObject) -> TestSessionHandler {
        let id = ObjectIdentifier(session)
        let handler = sessionHandlers[id] ?? TestSessionHandler()
        sessionHandlers[id] = handler
        return handler
    }

    private func keepDeliveries(of consumer: Consumer) {
        handler(of: consumer).onDelivery = { [unowned self] delivery in
            assumeIsolated { $0.deliveries.append(delivery) }
        }
    }

    private var connectors: [ByteConnector] { connectors(["broker"]) }

    private func connectors(_ hosts: [String]) -> [ByteConnector] {
        hosts.map { ByteConnector(loop: loop, endpoint: Endpoint(host: $0, port: 5672)) }
    }

    func readyPublisher() async throws -> Publisher {
        let publisher = makePublisher()
        try await publisher.waitUntilReady(deadlineSeconds: 10)
        return publisher
    }

    func makeConsumer(
        _ queue: String = "in", prefetch: Int = 10, _ change: (inout ConsumerConfiguration) -> Void = { _ in }
    ) -> Consumer {
        var configuration = ConsumerConfiguration(queue: queue, prefetch: prefetch)
        change(&configuration)
        let consumer = Consumer(
            loop: loop, connectors: connectors, connection: connection, configuration: configuration)
        keepDeliveries(of: consumer)
        handler(of: consumer).onStatus = record("consumer")
        start(consumer.connection, "consumer")
        consumer.start(handler(of: consumer))
        return consumer
    }

    func makeConnection(
        to hosts: [String] = ["broker"], onStatus: @escaping (BrokerStatus) -> Void = { _ in }
    ) -> BrokerConnection {
        let connection = BrokerConnection(loop: loop, connectors: connectors(hosts), configuration: connection)
        let handler: TestSessionHandler = handler(of: connection)
        handler.onStatus = onStatus
        opened.append(connection)
        connection.start(handler)
        return connection
    }

    func makeConsumer(
        _ queue: String, prefetch: Int = 10, on connection: BrokerConnection,
        _ change: (inout ConsumerConfiguration) -> Void = { _ in }
    ) -> Consumer {
        var configuration = ConsumerConfiguration(queue: queue, prefetch: prefetch)
        change(&configuration)
        let consumer = Consumer(on: connection, configuration: configuration)
        keepDeliveries(of: consumer)
        consumer.start(handler(of: consumer))
        return consumer
    }

    /// The recorded events, used only on the harness's loop.
    final class EventLog: @unchecked Sendable {
        var count = 0
        var texts: [String] = []
        var results: [String?] = []
    }

    func acknowledgeImmediately(_ consumer: Consumer) {
        acknowledging = consumer
        handler(of: consumer).onDelivery = { [unowned self] delivery in
            assumeIsolated { harness in
                harness.deliveries.append(delivery)
                harness.acknowledging?.acknowledge(delivery.tag)
            }
        }
    }

    private var acknowledging: Consumer?

    /// Returns a log that counts requeued deliveries from now on.
    func countReturns() -> EventLog {
        let log = EventLog()
        broker.onRequeue = { _, _ in log.count += 1 }
        return log
    }

    func countLosses(of consumer: Consumer) -> EventLog {
        let log = EventLog()
        handler(of: consumer).onChannelLost = { log.count += 1 }
        return log
    }

    func recordFailures(of connection: BrokerConnection) -> EventLog {
        let log = EventLog()
        let handler: TestSessionHandler = handler(of: connection)
        handler.onStatus = { status in
            if case .waiting(let error, _) = status { log.texts.append("\(error.code): \(error.message)") }
        }
        // The call has no effect if the connection is already started.
        connection.start(handler)
        return log
    }

    func makePublisher(_ change: (inout PublisherConfiguration) -> Void = { _ in }) -> Publisher {
        var configuration = PublisherConfiguration()
        change(&configuration)
        let publisher = Publisher(
            loop: loop, connectors: connectors, connection: connection, configuration: configuration)
        let handler: TestSessionHandler = handler(of: publisher)
        handler.onStatus = record("publisher")
        start(publisher.connection, "publisher")
        publisher.start(handler)
        return publisher
    }

    func makeAdmin() -> BrokerAdmin {
        let admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection)
        start(admin.connection, "admin")
        admin.start(TestSessionHandler(onStatus: record("admin")))
        return admin
    }

    /// Starts the connection of a channel, and records the failures of the connection.
    private func start(_ connection: BrokerConnection, _ name: String) {
        opened.append(connection)
        let handler: TestSessionHandler = handler(of: connection)
        handler.onStatus = { [unowned self] status in
            if case .waiting = status { assumeIsolated { $0.record(name, status) } }
        }
        connection.start(handler)
    }

    /// Records the states of a consumer from now on, except `disconnected`.
    func record(_ name: String, _ consumer: Consumer) {
        handler(of: consumer).onStatus = record(name)
    }

    private func record(_ name: String) -> (BrokerStatus) -> Void {
        { [unowned self] status in
            if status != .disconnected { assumeIsolated { $0.record(name, status) } }
        }
    }

    private func record(_ name: String, _ status: BrokerStatus) {
        let text =
            switch status {
            case .idle: "idle"
            case .disconnected: "disconnected"
            case .connecting: "connecting"
            case .ready: "ready"
            case .blocked(let reason): "blocked: \(reason)"
            case .waiting(let error, _): "waiting: \(error.code)"
            case .closed: "closed"
            }
        states.append("\(name) \(text)")
    }

    /// Publishes messages with these texts to a queue.
    func fill(_ texts: [String], into queue: String = "in") {
        for text in texts {
            _ = broker.publish(routingKey: queue, messageID: text, body: Array(text.utf8))
        }
    }

    /// Returns the texts of the ready messages in a queue.
    func texts(in queue: String) -> [String] {
        broker.queue(queue)?.ready.map { String(decoding: $0.body, as: UTF8.self) } ?? []
    }

    var deliveredTexts: [String] { deliveries.map { String(decoding: $0.body, as: UTF8.self) } }

    func pass(_ duration: Duration) async {
        await loop.sleep(for: duration)
    }

    /// Lets virtual time pass until `condition` holds. Records an issue if the condition does not hold within
    /// `limit`.
    func wait(
        _ what: Comment, limit: Duration = .seconds(300), sourceLocation: SourceLocation = #_sourceLocation,
        until condition: () -> Bool
    ) async {
        let end = loop.now.monotonic + limit
        while !condition() {
            guard loop.now.monotonic < end else {
                Issue.record(what, sourceLocation: sourceLocation)
                return
            }
            await loop.sleep(for: .milliseconds(5))
        }
    }

    static func message(_ text: String, exchange: String = "", key: String = "out") -> OutgoingMessage {
        OutgoingMessage(exchange: exchange, routingKey: key, body: Array(text.utf8), messageID: text)
    }

    func closeWithoutWaiting(_ channel: ChannelHandler) {
        closing = channel
        Task(executorPreference: loop) { await self.closePending() }
    }

    private var closing: ChannelHandler?

    private func closePending() async {
        await closing?.close()
    }

    /// Publishes each delivery to the queue "out" until a publish is confirmed, at most 20 times. Acknowledges the
    /// delivery after the confirm, or before the first publish if `acknowledgesFirst` is true.
    func startRelay(_ consumer: Consumer, _ publisher: Publisher, acknowledgesFirst: Bool = false) {
        relay = (consumer, publisher, acknowledgesFirst)
        handler(of: consumer).onDelivery = { [unowned self] delivery in
            Task(executorPreference: loop) { await self.relay(delivery) }
        }
    }

    private var relay: (consumer: Consumer, publisher: Publisher, acknowledgesFirst: Bool)?

    private func relay(_ delivery: IncomingMessage) async {
        guard let (consumer, publisher, acknowledgesFirst) = relay else { return }
        if acknowledgesFirst { consumer.acknowledge(delivery.tag) }
        let message = OutgoingMessage(
            exchange: "", routingKey: "out", body: delivery.body, messageID: delivery.properties.messageID ?? "")
        for _ in 0..<20 {
            guard await publisher.publish(message) == .confirmed else { continue }
            if !acknowledgesFirst { consumer.acknowledge(delivery.tag) }
            return
        }
    }

    /// Publishes without waiting. Stores the outcome in `outcomes` as soon as it is known.
    func publish(_ message: OutgoingMessage, _ publisher: Publisher, as name: String? = nil) {
        let id = name ?? message.messageID
        Task(executorPreference: loop) { await self.publishAndRecord(message, id) }
        pending[id] = publisher
    }

    private var pending: [String: Publisher] = [:]
    private(set) var outcomes: [String: PublishOutcome] = [:]

    private func publishAndRecord(_ message: OutgoingMessage, _ id: String) async {
        guard let publisher = pending[id] else { return }
        outcomes[id] = await publisher.publish(message)
    }
}

extension VirtualLoop {
    fileprivate func isDone(_ harness: AMQPHarness) -> Bool { harness.isDone }
}
