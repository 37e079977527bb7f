import AMQP
import EventLoop
import TestKit

/// A test's own place at a broker, on a loop and thread of its own: publishes, collects what comes, empties queues.
actor BrokerDesk {
    nonisolated let loop: EpollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let url: AMQPURL
    private var publisher: Publisher?
    private var admin: BrokerAdmin?
    private var collections: [String: Collection] = [:]

    /// What has come out of one queue so far.
    private final class Collection {
        let consumer: Consumer
        var messages: [IncomingMessage] = []
        /// When each of them came.
        var arrivals: [MonotonicTime] = []
        var onDelivery: () -> Void = {}

        init(_ consumer: Consumer) {
            self.consumer = consumer
        }
    }

    init(_ url: String) throws {
        self.url = try AMQPURL(url)
        let loop = try EpollLoop()
        self.loop = loop
        try DetachedThread.start { loop.run() }
    }

    /// Ends its connections and its thread.
    func close() async {
        for (_, collection) in collections { await collection.consumer.close() }
        await publisher?.close()
        await admin?.close()
        loop.stop()
    }

    private var connectors: [ByteConnector] { url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) } }
    private var connection: ConnectionConfiguration { ConnectionConfiguration(credentials: url.credentials) }

    /// Lets time pass.
    func pass(_ time: Duration) async { await loop.sleep(for: time) }

    /// A publisher does not take any number.
    private static let publishesAtOnce = 10_000

    /// Publishes all and waits for the confirms.
    func publish(_ messages: [OutgoingMessage]) async throws {
        for first in stride(from: 0, to: messages.count, by: Self.publishesAtOnce) {
            try await publishAtOnce(messages[first..<min(first + Self.publishesAtOnce, messages.count)])
        }
    }

    private func publishAtOnce(_ messages: ArraySlice<OutgoingMessage>) async throws {
        let refused = await withTaskGroup(of: PublishOutcome?.self) { group in
            for message in messages { group.addTask { await self.publish(message) } }
            var refused: [PublishOutcome?] = []
            for await outcome in group where outcome != .confirmed { refused.append(outcome) }
            return refused
        }
        guard refused.isEmpty else {
            throw ProcessError("\(refused.count) not confirmed, such as \(String(describing: refused[0]))")
        }
    }

    func publish(_ message: OutgoingMessage) async -> PublishOutcome? {
        if publisher == nil {
            let publisher = Publisher(loop: loop, connectors: connectors, connection: connection)
            publisher.start()
            self.publisher = publisher
        }
        return await publisher?.publish(message)
    }

    /// Has one message of a queue delivered and put back, so that it comes as a redelivery next time.
    func touch(_ queue: String) async {
        let consumer = Consumer(
            loop: loop, connectors: connectors, connection: connection,
            configuration: ConsumerConfiguration(queue: queue, prefetch: 1))
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            consumer.onDelivery = { message in
                consumer.onDelivery = { _ in }
                continuation.resume()
            }
            consumer.start()
        }
        await consumer.close()
    }

    /// Takes all that comes into a queue from now on.
    func collect(_ queue: String) {
        var configuration = ConsumerConfiguration(queue: queue, prefetch: 2000)
        configuration.messageBytesMax = 16 << 20
        let consumer = Consumer(
            loop: loop, connectors: connectors, connection: connection, configuration: configuration)
        let collection = Collection(consumer)
        consumer.onDelivery = { message in
            collection.messages.append(message)
            collection.arrivals.append(collection.consumer.loop.now.monotonic)
            collection.consumer.acknowledge(message.tag)
            collection.onDelivery()
        }
        collections[queue] = collection
        consumer.start()
    }

    /// When each of the messages that are `collected` came.
    func arrivals(_ queue: String) -> [MonotonicTime] { collections[queue]?.arrivals ?? [] }

    /// What has come out of a queue since it is collected.
    func collected(_ queue: String) -> [IncomingMessage] { collections[queue]?.messages ?? [] }

    /// Waits until so many messages have come out of a queue that is collected; all that have.
    @discardableResult
    func collected(_ queue: String, atLeast count: Int, within deadline: Duration = .seconds(90)) async throws
        -> [IncomingMessage]
    {
        guard let collection = collections[queue] else { throw ProcessError("\(queue) is not collected") }
        if collection.messages.count < count {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                var isDone = false
                func finish() {
                    guard !isDone else { return }
                    isDone = true
                    collection.onDelivery = {}
                    continuation.resume()
                }
                loop.schedule(after: deadline) { finish() }
                collection.onDelivery = { if collection.messages.count >= count { finish() } }
            }
        }
        guard collection.messages.count >= count else {
            throw ProcessError("\(collection.messages.count) of \(count) messages came out of \(queue)")
        }
        return collection.messages
    }

    /// Waits until messages with so many different ids have come out of a queue that is collected.
    func collected(_ queue: String, ids count: Int, within deadline: Duration = .seconds(90)) async throws {
        let end = loop.now.monotonic + deadline
        var messages = collected(queue)
        while case let missing = count - Set(messages.map(\.properties.messageID)).count, missing > 0 {
            let left = loop.now.monotonic.duration(to: end)
            messages = try await collected(queue, atLeast: messages.count + 1, within: left)
        }
    }

    /// Takes what is in a queue now. Other than a count, which the broker tells late, this misses nothing.
    func takeAll(from queue: String) async throws -> [IncomingMessage] {
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

    var theAdmin: BrokerAdmin {
        if let admin { return admin }
        let admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection)
        admin.start()
        self.admin = admin
        return admin
    }
}
