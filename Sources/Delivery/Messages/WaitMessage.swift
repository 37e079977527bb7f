import AMQP
import BrokerTopology
import Text

/// The message that moves a request, byte for byte, to a wait queue. After the delay, the request returns to the queue
/// from which it was delivered.
enum WaitMessage {
    /// Returns the message for a wait.
    ///
    /// - Parameter sibling: The index of the sibling queue for a wait that does not specify a sibling.
    static func make(
        for record: DeliveryRecord, _ wait: Wait, sibling: Int, failedAtMilliseconds: Int64, names: TopologyNames,
        worker: WorkerIdentity
    ) -> OutgoingMessage {
        var message = record.republished(
            exchange: names.waitQueue(wait.delay, sibling: wait.exact?.sibling ?? sibling),
            routingKey: record.delivery.queue)
        message.expirationMilliseconds = wait.exact?.milliseconds
        message.priority = nil
        message.headers.append(wait.attempts)
        if let priority = record.priority {
            message.headers.append(MessageHeaderName.priority, .integer(Int64(priority)))
        }
        message.headers.append(
            MessageHeaderName.reasonCode, .string(wait.reason.cut(to: MessageHeaderName.copyBytesMax)))
        let first = record.delivery.properties.header(MessageHeaderName.firstFailedAt)?.integerValue
        message.headers.append(MessageHeaderName.firstFailedAt, .integer(first ?? failedAtMilliseconds))
        message.headers.append(MessageHeaderName.failedAt, .integer(failedAtMilliseconds))
        var history = record.history(trusting: worker)
        history.add(wait, after: record.attempts, at: failedAtMilliseconds, sibling: sibling)
        message.headers.append(history)
        record.appendCursor(to: &message.headers)
        record.copyDeadline(to: &message.headers)
        record.copyOrigin(worker, to: &message.headers)
        record.copyTraceContext(to: &message.headers)
        record.copyProducersHeaders(to: &message.headers)
        return message
    }
}
