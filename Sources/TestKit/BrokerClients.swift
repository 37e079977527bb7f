public import AMQP
import EventLoop
import Threads

/// A test's own clients of a broker, each on a loop of its own.
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

    /// Takes so many messages out of a queue, waiting for them, or only has them delivered and gives them back.
    @discardableResult
    public static func take(
        _ count: Int, from queue: String, at url: String, givesBack: Bool = false
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
                        if !givesBack { consumer.acknowledge(message.tag) }
                        if messages.count == count { continuation.resume() }
                    })
            }
            if !givesBack { await consumer.untilSettled(by: loop.now.monotonic + .seconds(15)) }
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
