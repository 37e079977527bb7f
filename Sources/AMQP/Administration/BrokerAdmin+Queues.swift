extension BrokerAdmin {
    /// Declares a durable queue, and returns its depth and number of consumers. Throws if the queue exists with other
    /// arguments (406).
    @discardableResult
    public func declareQueue(_ name: String, arguments: FieldTable = FieldTable()) async throws(AMQPError)
        -> QueueStatus
    {
        try await queueStatus(name, passive: false, arguments: arguments)
    }

    /// Returns the depth and the number of consumers of a queue. Throws if the queue does not exist (404).
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

    /// Returns whether a queue with this name exists. For the name of a direct reply-to consumer, returns whether this
    /// consumer exists.
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

    /// Removes a binding. The binding may be missing, but the queue and the exchange must exist.
    public func unbindQueue(_ queue: String, fromExchange exchange: String, routingKey: String) async throws(AMQPError)
    {
        _ = try await call(.queueUnbind(queue, exchange: exchange, routingKey: routingKey))
    }

    /// Deletes a queue with its messages. Returns the number of ready messages, which is 0 if the queue does not exist.
    @discardableResult
    public func deleteQueue(_ name: String) async throws(AMQPError) -> Int {
        let reply = try await call(.queueDelete(name))
        guard case .count(let count) = reply else { throw Self.wrongReply }
        return count
    }

    /// Deletes the ready messages of a queue and returns their number. Unacknowledged messages stay.
    @discardableResult
    public func purge(_ queue: String) async throws(AMQPError) -> Int {
        let reply = try await call(.queuePurge(queue))
        guard case .count(let count) = reply else { throw Self.wrongReply }
        return count
    }

    /// Removes and returns the first message of a queue; nil if the queue is empty. Discards a body above 16 MiB
    /// (`IncomingMessage.isOversized`).
    public func get(from queue: String) async throws(AMQPError) -> IncomingMessage? {
        let reply = try await call(.basicGet(queue: queue), queue)
        guard case .message(let message) = reply else { throw Self.wrongReply }
        return message
    }
}
