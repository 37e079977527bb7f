public import AMQP
import EventLoop
import Threads

/// Short-lived broker clients for tests, each with its own event loop.
public enum BrokerClients {
    @discardableResult
    public static func withAdmin<Result: Sendable>(
        _ url: String, _ body: @escaping @Sendable (BrokerAdmin) async throws -> Result
    ) async throws -> Result {
        try await onLoop(url) { loop, connectors, connection in
            let admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection)
            admin.start()
            let result = try await body(admin)
            await admin.close()
            return result
        }
    }

    public static func publish(_ messages: [OutgoingMessage], to url: String) async throws -> [PublishOutcome] {
        try await onLoop(url) { loop, connectors, connection in
            let publisher = Publisher(loop: loop, connectors: connectors, connection: connection)
            publisher.start()
            var outcomes: [PublishOutcome] = []
            for message in messages { outcomes.append(await publisher.publish(message)) }
            await publisher.close()
            return outcomes
        }
    }

    /// Waits for `count` messages of a queue, acknowledges or requeues the messages, and returns them.
    ///
    /// - Parameter requeues: Whether the messages return to the queue.
    @discardableResult
    public static func consume(
        _ count: Int, from queue: String, at url: String, requeues: Bool = false
    ) async throws -> [IncomingMessage] {
        try await onLoop(url) { loop, connectors, connection in
            let consumer = Consumer(
                loop: loop, connectors: connectors, connection: connection,
                configuration: ConsumerConfiguration(queue: queue, prefetch: count))
            var messages: [IncomingMessage] = []
            await withCheckedContinuation { continuation in
                consumer.start(
                    TestConsumerHandler { message in
                        let message = message
                        messages.append(message)
                        if !requeues { consumer.acknowledge(message.tag) }
                        if messages.count == count { continuation.resume() }
                    })
            }
            if !requeues { await consumer.waitUntilSettled(by: loop.now.monotonic + .seconds(15)) }
            await consumer.close()
            return messages
        }
    }

    private static func onLoop<Result: Sendable>(
        _ url: String,
        _ body: @escaping @Sendable (EventLoop, [ByteConnector], ConnectionConfiguration) async throws -> Result
    ) async throws -> Result {
        let url = try AMQPURL(url)
        let loop = try EpollLoop()
        try DetachedThread.start { loop.run() }
        defer { loop.stop() }
        return try await Task(executorPreference: loop) {
            try await body(
                loop, url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) },
                ConnectionConfiguration(credentials: url.credentials))
        }.value
    }
}
