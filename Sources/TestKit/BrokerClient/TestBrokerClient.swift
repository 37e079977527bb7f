public import AMQP
public import EventLoop
import Threads

/// A broker client for tests and benchmarks, with its own event loop and thread.
///
/// The client publishes messages, collects messages from queues, and empties queues.
public actor TestBrokerClient {
    nonisolated let loop: EpollLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let url: AMQPURL
    private var publisher: Publisher?
    private var admin: BrokerAdmin?
    private var collections: [String: Collection] = [:]
    private var waiters: [Waiter] = []

    /// The messages consumed from one queue so far.
    private final class Collection {
        let consumer: Consumer
        var messages: [IncomingMessage] = []
        /// The time of arrival of each message.
        var arrivals: [MonotonicTime] = []

        init(_ consumer: Consumer) {
            self.consumer = consumer
        }
    }

    /// A caller that waits for messages.
    private final class Waiter {
        let hasEnough: () -> Bool
        var continuation: UnsafeContinuation<Void, Never>?

        init(_ hasEnough: @escaping () -> Bool) {
            self.hasEnough = hasEnough
        }
    }

    public init(_ url: String) throws {
        self.url = try AMQPURL(url)
        let loop = try EpollLoop()
        self.loop = loop
        try DetachedThread.start { loop.run() }
    }

    /// Closes the connections and stops the thread.
    public func close() async {
        for (_, collection) in collections { await collection.consumer.close() }
        await publisher?.close()
        await admin?.close()
        loop.stop()
    }

    private var connectors: [ByteConnector] { url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) } }
    private var connection: ConnectionConfiguration { ConnectionConfiguration(credentials: url.credentials) }

    public func sleep(for duration: Duration) async { await loop.sleep(for: duration) }

    /// The maximum number of unconfirmed messages. A publisher accepts only a limited number.
    private static let unconfirmedMax = 2000

    /// Publishes messages and waits for the confirms.
    ///
    /// - Throws: `ProcessError` if a message is not confirmed.
    public func publish(_ messages: [OutgoingMessage]) async throws {
        try await publish(messages.count) { messages[$0] }
    }

    /// Publishes `count` messages and waits for the confirms.
    ///
    /// - Throws: `ProcessError` if a message is not confirmed.
    public func publish(_ count: Int, _ message: @escaping @Sendable (Int) -> OutgoingMessage) async throws {
        let refused = await withTaskGroup(of: String?.self) { group in
            let width = Self.unconfirmedMax
            for first in 0..<min(width, count) {
                group.addTask { [self] in
                    for number in stride(from: first, to: count, by: width) {
                        let outcome = await publish(message(number))
                        guard outcome == .confirmed else { return "message \(number): \(String(describing: outcome))" }
                    }
                    return nil
                }
            }
            var refused: String?
            for await failure in group { refused = refused ?? failure }
            return refused
        }
        if let refused { throw ProcessError("cannot publish \(refused)") }
    }

    public func publish(_ message: OutgoingMessage) async -> PublishOutcome? {
        if publisher == nil {
            let publisher = Publisher(loop: loop, connectors: connectors, connection: connection)
            publisher.start()
            self.publisher = publisher
        }
        return await publisher?.publish(message)
    }

    /// Receives one message from a queue. The broker requeues the message, and its next delivery is a redelivery.
    public func requeueOne(in queue: String) async { await receiveOne(from: queue) { _, _ in } }

    /// Receives one message from a queue and rejects the message without requeue.
    public func reject(from queue: String) async { await receiveOne(from: queue) { $0.reject($1.tag, requeue: false) } }

    private func receiveOne(from queue: String, _ settle: @escaping (Consumer, borrowing IncomingMessage) -> Void) async
    {
        let consumer = Consumer(
            loop: loop, connectors: connectors, connection: connection,
            configuration: ConsumerConfiguration(queue: queue, prefetch: 1))
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let handler = TestConsumerHandler()
            handler.onDelivery = { [unowned handler] message in
                handler.onDelivery = { _ in }
                settle(consumer, message)
                continuation.resume()
            }
            consumer.start(handler)
        }
        await consumer.close()
    }

    /// Starts to consume all messages of a queue.
    public func collect(_ queue: String) {
        var configuration = ConsumerConfiguration(queue: queue, prefetch: 2000)
        configuration.messageBytesMax = 16 << 20
        let consumer = Consumer(
            loop: loop, connectors: connectors, connection: connection, configuration: configuration)
        let collection = Collection(consumer)
        collections[queue] = collection
        consumer.start(
            TestConsumerHandler { [weak self] message in
                collection.messages.append(message)
                collection.arrivals.append(collection.consumer.loop.now.monotonic)
                collection.consumer.acknowledge(message.tag)
                self?.assumeIsolated { $0.resumeWaiters() }
            })
    }

    /// Discards the messages collected from a queue so far. Collecting continues.
    public func forget(_ queue: String) {
        collections[queue]?.messages = []
        collections[queue]?.arrivals = []
    }

    /// Returns the time of arrival of each message of `collected(_:)`.
    public func arrivals(_ queue: String) -> [MonotonicTime] { collections[queue]?.arrivals ?? [] }

    /// Returns the messages collected from a queue so far.
    public func collected(_ queue: String) -> [IncomingMessage] { collections[queue]?.messages ?? [] }

    /// Waits until at least `count` messages are collected from a queue, and returns all collected messages.
    ///
    /// - Throws: `ProcessError` if the messages do not arrive in time.
    @discardableResult
    public func collected(_ queue: String, atLeast count: Int, within deadline: Duration = .seconds(90)) async throws
        -> [IncomingMessage]
    {
        guard try await hasCollected(count, from: [queue], within: deadline) else {
            throw ProcessError("\(collected(queue).count) of \(count) messages arrived from \(queue)")
        }
        return collected(queue)
    }

    /// Waits until at least `count` messages in total are collected from several queues.
    ///
    /// - Returns: Whether the messages arrived in time.
    public func hasCollected(_ count: Int, from queues: [String], within deadline: Duration) async throws -> Bool {
        let collections = try queues.map { queue in
            guard let collection = self.collections[queue] else { throw ProcessError("\(queue) is not collected") }
            return collection
        }
        let waiter = Waiter { collections.reduce(0) { $0 + $1.messages.count } >= count }
        if !waiter.hasEnough() {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                waiter.continuation = continuation
                waiters.append(waiter)
                loop.schedule(after: deadline) { self.resume(waiter) }
            }
        }
        return waiter.hasEnough()
    }

    private func resumeWaiters() {
        for waiter in waiters where waiter.hasEnough() { resume(waiter) }
    }

    private func resume(_ waiter: Waiter) {
        waiters.removeAll { $0 === waiter }
        waiter.continuation?.resume()
        waiter.continuation = nil
    }

    /// Waits until messages with `count` different message IDs are collected from a queue.
    ///
    /// - Throws: `ProcessError` if the messages do not arrive in time.
    public func collected(_ queue: String, ids count: Int, within deadline: Duration = .seconds(90)) async throws {
        let end = loop.now.monotonic + deadline
        var messages = collected(queue)
        while case let missing = count - Set(messages.map(\.properties.messageID)).count, missing > 0 {
            let left = loop.now.monotonic.duration(to: end)
            messages = try await collected(queue, atLeast: messages.count + 1, within: left)
        }
    }

    /// Fetches all messages of a queue with `basic.get`.
    ///
    /// The result is complete, whereas the broker's message counts can be outdated.
    public func getAll(from queue: String) async throws -> [IncomingMessage] {
        var messages: [IncomingMessage] = []
        while true {
            let batch = try await withThrowingTaskGroup(of: IncomingMessage?.self) { group in
                for _ in 0..<50 { group.addTask { try await self.get(from: queue) } }
                var batch: [IncomingMessage?] = []
                for try await message in group { batch.append(message) }
                return batch
            }
            messages += batch.compactMap(\.self)
            if batch.contains(where: { $0 == nil }) { return messages }
        }
    }

    private func get(from queue: String) async throws -> IncomingMessage? {
        try await brokerAdmin.get(from: queue)
    }

    /// Returns the number of ready messages in a queue.
    public func count(in queue: String) async throws -> Int { try await brokerAdmin.status(ofQueue: queue).messages }

    /// Deletes the ready messages of a queue.
    public func purge(_ queue: String) async throws { try await brokerAdmin.purge(queue) }

    public var brokerAdmin: BrokerAdmin {
        if let admin { return admin }
        // While other tests run, the broker restarts slowly. A failed connection attempt also delays the next attempt.
        let admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection, deadlineSeconds: 60)
        admin.start()
        self.admin = admin
        return admin
    }
}
