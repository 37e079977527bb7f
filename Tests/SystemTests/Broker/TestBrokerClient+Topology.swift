import AMQP
import TestKit

extension TestBrokerClient {
    /// Deletes queues and returns the number of messages that they contained.
    @discardableResult
    func delete(_ queues: [String]) async throws -> Int {
        var count = 0
        for queue in queues { count += try await brokerAdmin.deleteQueue(queue) }
        return count
    }

    /// Declares a queue that does not belong to the topology.
    func declare(_ queue: String, _ arguments: FieldTable) async throws {
        try await brokerAdmin.declareQueue(queue, arguments: arguments)
    }

    /// Declares a queue that does not belong to the topology. Binds the queue to an exchange.
    func bind(_ queue: String, to exchange: String, _ routingKey: String) async throws {
        try await brokerAdmin.declareQueue(queue)
        try await brokerAdmin.bindQueue(queue, toExchange: exchange, routingKey: routingKey)
    }

    /// Binds an existing queue to a fanout exchange.
    func bindFanout(_ exchange: String, to queue: String) async throws {
        try await brokerAdmin.bindQueue(queue, toExchange: exchange, routingKey: "")
    }

    /// Declares a queue that receives each message published to the fanout exchanges. Collects from the queue.
    func tap(_ exchanges: [String], as queue: String) async throws {
        try await brokerAdmin.declareQueue(queue)
        for exchange in exchanges { try await brokerAdmin.bindQueue(queue, toExchange: exchange, routingKey: "") }
        collect(queue)
    }
}
