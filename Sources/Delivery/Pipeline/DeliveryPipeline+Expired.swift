import AMQP

/// The broker removes a request from its queue when its time to live ends, and dead-letters it to the queue of expired
/// requests.
extension DeliveryPipeline {
    /// A request gets its result. Any other message goes on to the dead letters: a channel command, or a request that waited
    /// before something else ended it.
    func deliverExpired(_ record: DeliveryRecord) {
        let headers = record.delivery.properties.headers ?? FieldTable()
        guard BrokerDeath(headers)?.isExpiry(in: messages.names) == true else {
            reject(record)
            return end(record)
        }
        // The broker does not say whether a worker had it before.
        record.mayHaveBeenPushed()
        guard !exceedsDeliveryLimit(record) else {
            identifyUnread(record)
            return endExpired(record)
        }
        switch read(record) {
        case .success(let request): deduplicate(request, record)
        case .failure: endExpired(record)
        }
    }

    func endExpired(_ record: DeliveryRecord) {
        settle(.conclude(FinalOutcome(outcome: .expired)), record)
    }
}
