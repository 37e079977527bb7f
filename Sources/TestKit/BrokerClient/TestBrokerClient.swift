public import AMQP
public import EventLoop
import Threads

/// A test's or benchmark's own place at a broker, on a loop and thread of its own: publishes, collects what comes,
/// empties queues.
public actor TestBrokerClient {
    nonisolated let loop: EpollLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let url: AMQPURL
    private var publisher: Publisher?
    private var admin: BrokerAdmin?
    private var collections: [String: Collection] = [:]
    private var waiters: [Waiter] = []

    /// What has come out of one queue so far.
    private final class Collection {
        let consumer: Consumer
        var messages: [IncomingMessage] = []
        /// When each of them came.
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

    /// Ends its connections and its thread.
    public func close() async {
        for (_, collection) in collections { await collection.consumer.close() }
        await publisher?.close()
        await admin?.close()
        loop.stop()
    }

    private var connectors: [ByteConnector] { url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) } }
    private var connection: ConnectionConfiguration { ConnectionConfiguration(credentials: url.credentials) }

    /// Lets time pass.
    public func sleep(for duration: Duration) async { await loop.sleep(for: duration) }

    /// Messages that are under way at once: a publisher does not take any number.
    private static let unconfirmedMax = 2000

    /// Publishes all and waits for the confirms.
    ///
    /// - Throws: `ProcessError` when one is not confirmed.
    public func publish(_ messages: [OutgoingMessage]) async throws {
        try await publish(messages.count) { messages[$0] }
    }

    /// Publishes `count` messages and waits for the confirms.
    ///
    /// - Throws: `ProcessError` when one is not confirmed.
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
            for await why in group { refused = refused ?? why }
            return refused
        }
        if let refused { throw ProcessError("not published: \(refused)") }
    }

    public func publish(_ message: OutgoingMessage) async -> PublishOutcome? {
        if publisher == nil {
            let publisher = Publisher(loop: loop, connectors: connectors, connection: connection)
            publisher.start()
            self.publisher = publisher
        }
        return await publisher?.publish(message)
    }

    /// Has one message of a queue delivered and put back, so that it comes as a redelivery next time.
    public func requeueOne(in queue: String) async { await takeOne(from: queue) { _, _ in } }

    /// Has one message of a queue delivered and rejected, so that the broker dead-letters it.
    public func reject(from queue: String) async { await takeOne(from: queue) { $0.reject($1.tag, requeue: false) } }

    private func takeOne(from queue: String, _ settle: @escaping (Consumer, borrowing IncomingMessage) -> Void) async {
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

    /// Takes all that comes into a queue from now on.
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

    /// Lets go of what has come out of a queue that is collected; what comes is collected on.
    public func forget(_ queue: String) {
        collections[queue]?.messages = []
        collections[queue]?.arrivals = []
    }

    /// When each of the messages that are `collected` came.
    public func arrivals(_ queue: String) -> [MonotonicTime] { collections[queue]?.arrivals ?? [] }

    /// What has come out of a queue since it is collected.
    public func collected(_ queue: String) -> [IncomingMessage] { collections[queue]?.messages ?? [] }

    /// Waits until so many messages have come out of a queue that is collected; all that have.
    @discardableResult
    public func collected(_ queue: String, atLeast count: Int, within deadline: Duration = .seconds(90)) async throws
        -> [IncomingMessage]
    {
        guard try await hasCollected(count, from: [queue], within: deadline) else {
            throw ProcessError("\(collected(queue).count) of \(count) messages came out of \(queue)")
        }
        return collected(queue)
    }

    /// Waits until so many messages, all queues together, have come out of queues that are collected.
    ///
    /// - Returns: whether they came in time.
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

    /// Waits until messages with so many different ids have come out of a queue that is collected.
    public func collected(_ queue: String, ids count: Int, within deadline: Duration = .seconds(90)) async throws {
        let end = loop.now.monotonic + deadline
        var messages = collected(queue)
        while case let missing = count - Set(messages.map(\.properties.messageID)).count, missing > 0 {
            let left = loop.now.monotonic.duration(to: end)
            messages = try await collected(queue, atLeast: messages.count + 1, within: left)
        }
    }

    /// Takes what is in a queue now. Other than a count, which the broker tells late, this misses nothing.
    public func getAll(from queue: String) async throws -> [IncomingMessage] {
        var taken: [IncomingMessage] = []
        while true {
            let batch = try await withThrowingTaskGroup(of: IncomingMessage?.self) { group in
                for _ in 0..<50 { group.addTask { try await self.get(from: queue) } }
                var batch: [IncomingMessage?] = []
                for try await message in group { batch.append(message) }
                return batch
            }
            taken += batch.compactMap(\.self)
            if batch.contains(where: { $0 == nil }) { return taken }
        }
    }

    private func get(from queue: String) async throws -> IncomingMessage? {
        try await theAdmin.get(from: queue)
    }

    /// How many messages wait in a queue.
    public func count(in queue: String) async throws -> Int { try await theAdmin.status(ofQueue: queue).messages }

    /// Takes away what waits in a queue.
    public func purge(_ queue: String) async throws { try await theAdmin.purge(queue) }

    public var theAdmin: BrokerAdmin {
        if let admin { return admin }
        // A broker that starts again beside other tests takes its time, and an attempt to connect may just have failed.
        let admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection, deadlineSeconds: 60)
        admin.start()
        self.admin = admin
        return admin
    }
}
