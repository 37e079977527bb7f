extension BrokerAdmin {
    /// Declares a transient queue that only this connection can use. The broker deletes the queue at the end of the
    /// connection, and also after its last consumer. After a reconnection, the queue must be declared and bound again.
    ///
    /// Throws `resourceLocked` if another connection has declared the queue exclusively, or if the queue exists and is
    /// not exclusive. Throws `preconditionFailed` if this connection has declared the queue with other arguments.
    public func declareExclusiveQueue(_ name: String, arguments: FieldTable = FieldTable()) async throws(AMQPError) {
        _ = try await call(.exclusiveQueueDeclare(name, arguments: arguments))
    }

    /// Locks a name for this connection by the declaration of an empty exclusive queue. Returns false if another
    /// connection holds the lock, or if a queue of this name is not exclusive.
    ///
    /// The lock ends with the connection or with `deleteQueue`. If the holder vanishes, the broker frees the lock
    /// within three heartbeat timeouts. A reconnection does not restore the lock. All users of one connection share its
    /// locks.
    public func acquireLock(_ name: String, arguments: FieldTable = FieldTable()) async throws(AMQPError) -> Bool {
        do {
            try await declareExclusiveQueue(name, arguments: arguments)
            return true
        } catch {
            guard error.code == .resourceLocked else { throw error }
            return false
        }
    }
}
