extension BrokerAdmin {
    /// Declares a durable queue. One that exists with other arguments is an error (406).
    @discardableResult
    public func declareQueue(_ name: String, arguments: FieldTable = FieldTable()) async throws(AMQPError)
        -> QueueStatus
    {
        try await queueStatus(name, passive: false, arguments: arguments)
    }

    /// What the queue holds; 404 when there is none.
    public func status(ofQueue name: String) async throws(AMQPError) -> QueueStatus {
        try await queueStatus(name, passive: true, arguments: FieldTable())
    }

    private func queueStatus(
        _ name: String, passive: Bool, arguments: FieldTable
    ) async throws(AMQPError) -> QueueStatus {
        let reply = try await call(.queueDeclare(name, isPassive: passive, arguments: arguments))
        guard case .queue(let status) = reply else { throw Self.wrongReply }
        return status
    }

    /// Whether there is a queue of this name, or a consumer behind a name of direct reply-to.
    public func queueExists(_ name: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await status(ofQueue: name)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    public func bindQueue(
        _ queue: String, toExchange exchange: String, routingKey: String, arguments: FieldTable = FieldTable()
    ) async throws(AMQPError) {
        _ = try await call(.queueBind(queue, exchange: exchange, routingKey: routingKey, arguments: arguments))
    }

    /// Takes a binding away; one that is not there is no error, as long as the queue and the exchange are.
    public func unbindQueue(_ queue: String, fromExchange exchange: String, routingKey: String) async throws(AMQPError)
    {
        _ = try await call(.queueUnbind(queue, exchange: exchange, routingKey: routingKey))
    }

    /// Deletes a queue with its messages and returns their number; 0 when there is no such queue.
    @discardableResult
    public func deleteQueue(_ name: String) async throws(AMQPError) -> Int {
        let reply = try await call(.queueDelete(name))
        guard case .count(let count) = reply else { throw Self.wrongReply }
        return count
    }

    /// Deletes the messages of a queue that no consumer holds and returns their number.
    @discardableResult
    public func purge(_ queue: String) async throws(AMQPError) -> Int {
        let reply = try await call(.queuePurge(queue))
        guard case .count(let count) = reply else { throw Self.wrongReply }
        return count
    }

    /// Takes one message out of a queue, for good; `nil` when it is empty.
    public func get(from queue: String) async throws(AMQPError) -> IncomingMessage? {
        let reply = try await call(.basicGet(queue: queue), queue)
        guard case .message(let message) = reply else { throw Self.wrongReply }
        return message
    }
}
