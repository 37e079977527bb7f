import AMQP

/// The message that returns a request to users to the end of its queue after a chunk. The body is unchanged. If the
/// expansion has made progress, a header contains the cursor.
enum AgainMessage {
    static func make(
        for record: DeliveryRecord, _ attempts: Attempts, to place: RequestPlace, worker: WorkerIdentity
    ) -> OutgoingMessage {
        var message = record.republished(exchange: place.exchange, routingKey: place.routingKey)
        message.headers.append(attempts)
        message.headers.append(record.history(trusting: worker))
        record.appendCursor(to: &message.headers)
        record.copyDeadline(to: &message.headers)
        record.copyOrigin(worker, to: &message.headers)
        record.copyTraceContext(to: &message.headers)
        record.copyProducersHeaders(to: &message.headers)
        return message
    }
}

extension DeliveryRecord {
    /// Appends the cursor of an expansion that has made progress. Call this function before `copyProducersHeaders`,
    /// which otherwise copies an earlier cursor.
    func appendCursor(to headers: inout FieldTable) {
        guard let expansion, expansion.hasChildren || expansion.cursor.user > 0 else { return }
        headers.append(MessageHeaderName.cursor, .string(expansion.cursor.text))
    }
}
