import AMQP
import CommandKit
import Delivery
import EventLoop

/// A queue of a command's own, which gets a copy of every result and dead letter while the command runs.
///
/// It is an ordinary one that the broker deletes when nobody has used it for a while, so that it is there before anything
/// is awaited and outlives a short loss of the connection; it is deleted when the command ends.
final class ResultsQueue {
    /// How long the broker keeps the queue after a command that was killed.
    private static let expiresMilliseconds: Int64 = 60_000
    /// Messages that wait for a slow terminal; the oldest are dropped then.
    private static let lengthMax: Int64 = 100_000
    private static let prefetch = 500
    private static let connectDeadlineSeconds = 15

    private let access: BrokerAccess
    let name: String
    private let admin: BrokerAdmin
    private let consumer: Consumer
    private let wait: BrokerWait
    var onMessage: (IncomingMessage) -> Void = { _ in }
    var onConnectionChange: (BrokerState) -> Void = { _ in }
    /// The queue, or the way to it, is not as it should be, and waiting does not mend it.
    var onFailure: () -> Void = {}

    /// How the names of such queues begin.
    static func namePrefix(_ names: TopologyNames) -> String { "\(names.prefix).watch." }

    /// - Parameter command: the name of its connections, such as `martlet watch`.
    init(loop: EventLoop, access: BrokerAccess, command: String) {
        self.access = access
        name = Self.namePrefix(access.names) + String(loop.nextRandom(), radix: 36)
        admin = access.admin(named: command, on: loop, deadlineSeconds: Self.connectDeadlineSeconds)
        consumer = Consumer(
            loop: loop, connectors: access.connectors(on: loop), connection: access.connection(named: command),
            configuration: ConsumerConfiguration(queue: name, prefetch: Self.prefetch))
        wait = BrokerWait(loop: loop, access: access)
    }

    /// What is published to these exchanges from now on comes.
    func open(on exchanges: [String]) async throws(AMQPError) {
        do throws(AMQPError) {
            try await declare(on: exchanges)
        } catch {
            // What was declared goes by itself.
            await admin.close()
            throw error
        }
        consumer.onDelivery = { [unowned self] message in
            consumer.acknowledge(message.tag)
            onMessage(message)
        }
        consumer.onStateChange = { [unowned self] state in
            if case .waiting(let error, _) = state {
                failed(error, isLasting: !error.isRetriable || error.code == .notFound)
            }
        }
        consumer.connection.onStateChange = { [unowned self] state in
            wait.changed(state)
            if case .waiting(let error, _) = state, !error.isRetriable { failed(error, isLasting: true) }
            onConnectionChange(state)
        }
        consumer.start()
    }

    private func declare(on exchanges: [String]) async throws(AMQPError) {
        BrokerWait.follow(admin.connection, access)
        admin.start()
        try await admin.declareQueue(
            name,
            arguments: [
                "x-queue-type": "classic", "x-expires": .integer(Self.expiresMilliseconds),
                "x-max-length": .integer(Self.lengthMax),
            ])
        for exchange in exchanges { try await admin.bindQueue(name, toExchange: exchange, routingKey: "#") }
        // From here on the consumer's connection speaks for both.
        admin.connection.onStateChange = { _ in }
    }

    private func failed(_ error: AMQPError, isLasting: Bool) {
        Terminal.error.line(access.line(error))
        if isLasting { onFailure() }
    }

    func close() async {
        await consumer.close()
        _ = try? await admin.deleteQueue(name)
        await admin.close()
    }
}
