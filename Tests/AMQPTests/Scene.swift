import AMQP
import EventLoop
import TestKit
import Testing

/// A client of each kind and a scripted broker on virtual time, as a lane would own them.
actor Scene {
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

    /// Plays `script` on virtual time; it must end within `limit`.
    static func play(
        seed: UInt64 = 1, limit: Duration = .seconds(7200), sourceLocation: SourceLocation = #_sourceLocation,
        _ script: @escaping @Sendable (isolated Scene) async throws -> Void
    ) {
        let loop = VirtualLoop(seed: seed)
        let scene = Scene(loop: loop, seed: seed)
        loop.enter {
            _ = Task(executorPreference: loop) { await scene.perform(script, sourceLocation) }
        }
        let ending = loop.run(limit: limit) { loop.isDone(scene) }
        #expect(ending == .done, sourceLocation: sourceLocation)
        #expect(loop.jobsFromOtherThreads == 0, sourceLocation: sourceLocation)
        loop.end()
    }

    fileprivate nonisolated(unsafe) var isDone = false

    private func perform(
        _ script: @Sendable (isolated Scene) async throws -> Void, _ sourceLocation: SourceLocation
    ) async {
        do {
            try await script(self)
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
        // A connection and its channels keep each other until it is closed.
        for connection in opened { await connection.close(deadlineSeconds: 1) }
        // So do a broker and what it listens on.
        broker.crash()
        isDone = true
    }

    private var opened: [BrokerConnection] = []
    private var consumerHandlers: [ObjectIdentifier: TestConsumerHandler] = [:]
    private var sessionHandlers: [ObjectIdentifier: TestSessionHandler] = [:]

    /// The handler that a consumer is started with.
    func handler(of consumer: Consumer) -> TestConsumerHandler {
        let id = ObjectIdentifier(consumer)
        let handler = consumerHandlers[id] ?? TestConsumerHandler()
        consumerHandlers[id] = handler
        return handler
    }

    /// The handler that a connection, a publisher or administration is started with.
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
        handler(of: consumer).onStatus = note("consumer")
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

    /// What happened so far; used on the scene's loop only.
    final class Notes: @unchecked Sendable {
        var count = 0
        var texts: [String] = []
        var results: [String?] = []
    }

    func acknowledgeAtOnce(_ consumer: Consumer) {
        acknowledging = consumer
        handler(of: consumer).onDelivery = { [unowned self] delivery in
            assumeIsolated { scene in
                scene.deliveries.append(delivery)
                scene.acknowledging?.acknowledge(delivery.tag)
            }
        }
    }

    private var acknowledging: Consumer?

    /// Deliveries that came back to their queue.
    func countReturns() -> Notes {
        let notes = Notes()
        broker.onRequeue = { _, _ in notes.count += 1 }
        return notes
    }

    func countLosses(of consumer: Consumer) -> Notes {
        let notes = Notes()
        handler(of: consumer).onChannelLost = { notes.count += 1 }
        return notes
    }

    func noteFailures(of connection: BrokerConnection) -> Notes {
        let notes = Notes()
        let handler: TestSessionHandler = handler(of: connection)
        handler.onStatus = { status in
            if case .waiting(let error, _) = status { notes.texts.append("\(error.code): \(error.message)") }
        }
        // Unless it is started with this handler.
        connection.start(handler)
        return notes
    }

    func makePublisher(_ change: (inout PublisherConfiguration) -> Void = { _ in }) -> Publisher {
        var configuration = PublisherConfiguration()
        change(&configuration)
        let publisher = Publisher(
            loop: loop, connectors: connectors, connection: connection, configuration: configuration)
        let handler: TestSessionHandler = handler(of: publisher)
        handler.onStatus = note("publisher")
        start(publisher.connection, "publisher")
        publisher.start(handler)
        return publisher
    }

    func makeAdmin() -> BrokerAdmin {
        let admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection)
        start(admin.connection, "admin")
        admin.start(TestSessionHandler(onStatus: note("admin")))
        return admin
    }

    /// Starts the connection of a channel and notes its failures.
    private func start(_ connection: BrokerConnection, _ name: String) {
        opened.append(connection)
        let handler: TestSessionHandler = handler(of: connection)
        handler.onStatus = { [unowned self] status in
            if case .waiting = status { assumeIsolated { $0.note(name, status) } }
        }
        connection.start(handler)
    }

    /// Notes the states of a consumer from now on.
    func note(_ name: String, _ consumer: Consumer) {
        handler(of: consumer).onStatus = note(name)
    }

    private func note(_ name: String) -> (BrokerStatus) -> Void {
        { [unowned self] status in
            if status != .disconnected { assumeIsolated { $0.note(name, status) } }
        }
    }

    private func note(_ name: String, _ status: BrokerStatus) {
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

    /// Puts messages of these texts into a queue.
    func fill(_ texts: [String], into queue: String = "in") {
        for text in texts {
            _ = broker.publish(routingKey: queue, messageID: text, body: Array(text.utf8))
        }
    }

    /// What lies in a queue.
    func texts(in queue: String) -> [String] {
        broker.queue(queue)?.ready.map { String(decoding: $0.body, as: UTF8.self) } ?? []
    }

    var deliveredTexts: [String] { deliveries.map { String(decoding: $0.body, as: UTF8.self) } }

    func pass(_ duration: Duration) async {
        await loop.sleep(for: duration)
    }

    /// Lets virtual time pass until `condition` holds.
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
        Task(executorPreference: loop) { await self.closeNoted() }
    }

    private var closing: ChannelHandler?

    private func closeNoted() async {
        await closing?.close()
    }

    /// Publishes each delivery to the queue "out" and acknowledges it once that is confirmed; anything else is tried again.
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

    /// Publishes without waiting; `outcomes` has it when it is over.
    func publish(_ message: OutgoingMessage, _ publisher: Publisher, as name: String? = nil) {
        let id = name ?? message.messageID
        Task(executorPreference: loop) { await self.publishAndNote(message, id) }
        pending[id] = publisher
    }

    private var pending: [String: Publisher] = [:]
    private(set) var outcomes: [String: PublishOutcome] = [:]

    private func publishAndNote(_ message: OutgoingMessage, _ id: String) async {
        guard let publisher = pending[id] else { return }
        outcomes[id] = await publisher.publish(message)
    }
}

extension VirtualLoop {
    fileprivate func isDone(_ scene: Scene) -> Bool { scene.isDone }
}
