import AMQP

/// Expired requests. When the time to live of a request ends, the broker dead-letters the request to the queue of
/// expired requests.
extension DeliveryPipeline {
    /// Publishes the result of a request whose time to live ended. Rejects any other message, so that the broker moves
    /// the message to the dead letters. Examples are channel commands, and requests that the broker removed for another
    /// reason after a wait.
    func deliverExpired(_ record: DeliveryRecord) {
        let headers = record.delivery.properties.headers ?? FieldTable()
        guard BrokerDeath(headers)?.isExpiry(in: messages.names) == true else {
            reject(record)
            return end(record)
        }
        // The broker does not report whether a worker received the request before.
        record.markPossibleDuplicate()
        guard !exceedsDeliveryLimit(record) else {
            identifyUnread(record)
            return endExpired(record)
        }
        switch read(record) {
        case .success(.push(let request)): deduplicate(request, record)
        case .success(.audience(let audience)) where expander != nil:
            // A partly expanded request also gets a report, which needs the counts of the expansion.
            record.expansion = Expansion(audience, nil, of: record)
            endExpired(record)
        case .success(.audience), .failure: endExpired(record)
        }
    }

    func endExpired(_ record: DeliveryRecord) {
        settle(.conclude(FinalOutcome(outcome: .expired)), record)
    }
}
