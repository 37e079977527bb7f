import AMQP

extension DeliveryRecord {
    /// Returns the earlier rounds of the request. Ignores the header unless a worker with the same AMQP user published
    /// the delivery, because the headers of a producer are not trusted.
    func history(trusting worker: WorkerIdentity) -> RequestHistory {
        guard attempts.rounds > 0, worker.published(delivery.properties),
            let header = delivery.properties.header(MessageHeaderName.history)?.stringValue
        else { return RequestHistory() }
        return RequestHistory(header: header) ?? RequestHistory()
    }
}

extension RequestHistory {
    /// Adds the round of a wait.
    ///
    /// - Parameters:
    ///   - attempts: The counts of the request before the delivery.
    ///   - at: The start of the wait, in UNIX milliseconds.
    ///   - sibling: The index of the sibling queue.
    mutating func add(_ wait: Wait, after attempts: Attempts, at: Int64, sibling: Int) {
        let event: Event = wait.attempts.before > attempts.before ? .attempt : .hold
        add(event, wait.code, at: at, until: at + wait.milliseconds(sibling: sibling))
    }
}

extension FieldTable {
    /// Appends the history, unless it is empty.
    mutating func append(_ history: RequestHistory) {
        if let header = history.header { append(MessageHeaderName.history, .string(header)) }
    }
}
