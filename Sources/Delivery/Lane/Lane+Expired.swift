import AMQP

/// The broker takes a request from its queue when its time to live ends, and dead-letters it to the queue of expired messages.
extension Lane {
    func isFromExpiredQueue(_ record: DeliveryRecord) -> Bool {
        configuration.role(ofConsumer: record.source) == .expired
    }

    /// A request gets its result. Any other message goes on to the dead letters: a channel command, or a request that waited
    /// before something else ended it.
    func deliverExpired(_ record: DeliveryRecord) {
        let headers = record.delivery.properties.headers ?? FieldTable()
        guard BrokerDeath(headers)?.isExpiry(in: configuration.names) == true else {
            _ = acknowledge(record, .impossible)
            return end(record)
        }
        // The broker does not say whether a worker had it before.
        record.mayHaveBeenPushed()
        guard !isPoison(record) else {
            nameUnread(record)
            return endExpired(record)
        }
        switch read(record) {
        case .refused: endExpired(record)
        case .request(let notification): deliver(notification, record)
        }
    }

    func endExpired(_ record: DeliveryRecord) {
        settle(.conclude(FinalOutcome(outcome: .expired)), record)
    }
}
