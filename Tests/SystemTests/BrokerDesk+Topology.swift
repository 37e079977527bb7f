import AMQP

extension BrokerDesk {
    /// Deletes queues; the messages that were in them.
    @discardableResult
    func delete(_ queues: [String]) async throws -> Int {
        var count = 0
        for queue in queues { count += try await theAdmin.deleteQueue(queue) }
        return count
    }

    /// Makes a queue that gets a copy of all that is published to exchanges of fanout, and collects it.
    func overhear(_ exchanges: [String], as queue: String) async throws {
        try await theAdmin.declareQueue(queue)
        for exchange in exchanges { try await theAdmin.bindQueue(queue, toExchange: exchange, routingKey: "") }
        collect(queue)
    }
}
