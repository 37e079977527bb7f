import AMQP
import BrokerTopology
import CommandKit
import Configuration
import EventLoop

/// A queue of one command. While the command runs, the queue receives a copy of every message that is published to
/// the given exchanges.
///
/// The broker deletes the queue after it has been unused for a while. The queue therefore survives a short connection
/// loss. The command deletes the queue when the command ends.
final class ResultsQueue {
    /// The time for which the broker keeps the queue of a killed command.
    private static let expiresMilliseconds: Int64 = 60_000
    /// Maximum number of messages that wait for a slow terminal. The broker drops the oldest messages beyond this
    /// number.
    private static let lengthMax: Int64 = 100_000
    private static let prefetch = 500
    private static let connectDeadlineSeconds = 15

    private let connector: BrokerConnector
    let name: String
    private let admin: BrokerAdmin
    private let consumer: Consumer
    private let wait: BrokerWait

    /// Creates a queue object. `open` declares the queue at the broker.
    ///
    /// - Parameter command: the name of the connections at the broker, such as `martlet watch`.
    init(loop: EventLoop, connector: BrokerConnector, command: String) {
        self.connector = connector
        name = connector.names.watchQueuePrefix + String(loop.nextRandom(), radix: 36)
        admin = connector.admin(named: command, on: loop, deadlineSeconds: Self.connectDeadlineSeconds)
        consumer = Consumer(
            loop: loop, connectors: connector.connectors(on: loop), connection: connector.connection(named: command),
            configuration: ConsumerConfiguration(queue: name, prefetch: Self.prefetch))
        wait = BrokerWait(loop: loop, connector: connector)
    }

    /// Declares the queue and binds it. The handler receives the messages that are published to the
    /// exchanges afterward, until `close` returns.
    func open(on exchanges: [String], _ handler: ResultsHandler) async throws(AMQPError) {
        do throws(AMQPError) {
            try await declare(on: exchanges)
        } catch {
            // The broker deletes the queue when it expires.
            await admin.close()
            throw error
        }
        consumer.connection.start(ConnectionEvents(self, handler))
        consumer.start(Messages(self, handler))
    }

    private final class Messages: ConsumerHandler {
        private unowned let queue: ResultsQueue
        private let handler: ResultsHandler

        init(_ queue: ResultsQueue, _ handler: ResultsHandler) { (self.queue, self.handler) = (queue, handler) }

        override func delivered(_ message: consuming IncomingMessage) {
            queue.consumer.acknowledge(message.tag)
            handler.received(message)
        }

        override func statusChanged(_ status: BrokerStatus) {
            guard case .waiting(let error, _) = status else { return }
            queue.report(error)
            if !error.isRetriable || error.code == .notFound { handler.failed() }
        }
    }

    private final class ConnectionEvents: SessionHandler {
        private unowned let queue: ResultsQueue
        private let handler: ResultsHandler

        init(_ queue: ResultsQueue, _ handler: ResultsHandler) { (self.queue, self.handler) = (queue, handler) }

        override func statusChanged(_ status: BrokerStatus) {
            queue.wait.statusChanged(status)
            if case .waiting(let error, _) = status, !error.isRetriable {
                queue.report(error)
                handler.failed()
            }
            handler.statusChanged(status)
        }
    }

    private func declare(on exchanges: [String]) async throws(AMQPError) {
        let wait = BrokerWait.follow(admin.connection, connector)
        admin.start()
        try await admin.declareQueue(
            name,
            arguments: [
                "x-queue-type": "classic", "x-expires": .integer(Self.expiresMilliseconds),
                "x-max-length": .integer(Self.lengthMax),
            ])
        for exchange in exchanges { try await admin.bindQueue(name, toExchange: exchange, routingKey: "#") }
        // The consumer's connection reports the status from here on.
        wait.end()
    }

    private func report(_ error: AMQPError) {
        Terminal.error.line(connector.line(error))
    }

    func close() async {
        await consumer.close()
        _ = try? await admin.deleteQueue(name)
        await admin.close()
    }
}
