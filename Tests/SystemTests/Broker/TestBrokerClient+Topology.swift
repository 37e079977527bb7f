import AMQP
import TestKit

extension TestBrokerClient {
    /// Deletes queues; the messages that were in them.
    @discardableResult
    func delete(_ queues: [String]) async throws -> Int {
        var count = 0
        for queue in queues { count += try await theAdmin.deleteQueue(queue) }
        return count
    }

    /// Makes a queue of somebody's own.
    func declare(_ queue: String, _ arguments: FieldTable) async throws {
        try await theAdmin.declareQueue(queue, arguments: arguments)
    }

    /// Makes a queue of somebody who binds one of their own.
    func bind(_ queue: String, to exchange: String, _ routingKey: String) async throws {
        try await theAdmin.declareQueue(queue)
        try await theAdmin.bindQueue(queue, toExchange: exchange, routingKey: routingKey)
    }

    /// Binds a queue that exists to an exchange of fanout.
    func lead(_ exchange: String, to queue: String) async throws {
        try await theAdmin.bindQueue(queue, toExchange: exchange, routingKey: "")
    }

    /// Makes a queue that gets a copy of all that is published to exchanges of fanout, and collects it.
    func overhear(_ exchanges: [String], as queue: String) async throws {
        try await theAdmin.declareQueue(queue)
        for exchange in exchanges { try await theAdmin.bindQueue(queue, toExchange: exchange, routingKey: "") }
        collect(queue)
    }
}
