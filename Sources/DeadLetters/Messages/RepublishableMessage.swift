package import AMQP
package import Delivery

/// The parts of a message that are published again: body, properties and headers.
///
/// The expiration is omitted, because the broker would drop the new message after this time. The user ID is omitted,
/// because the broker accepts only the user of the connection (https://www.rabbitmq.com/docs/validated-user-id).
package struct RepublishableMessage: Equatable, Sendable {
    package var body: [UInt8]
    package var messageID: String?
    package var contentType: String?
    package var contentEncoding: String?
    package var correlationID: String?
    package var replyTo: String?
    package var type: String?
    package var appID: String?
    /// Seconds since 1970-01-01 UTC.
    package var timestampSeconds: UInt64?
    package var priority: UInt8?
    /// The headers, except CC, BCC, unreadable headers and the headers that the broker sets at each delivery. CC and
    /// BCC would route the new message to further queues.
    package var headers = FieldTable()
    /// The trusted source of the origin headers.
    package var provenance = Provenance.unknown

    package init(body: [UInt8]) { self.body = body }

    package init(_ message: IncomingMessage, _ provenance: Provenance) {
        let properties = message.properties
        body = message.body
        messageID = properties.messageID
        contentType = properties.contentType
        contentEncoding = properties.contentEncoding
        correlationID = properties.correlationID
        replyTo = properties.replyTo
        type = properties.type
        appID = properties.appID
        timestampSeconds = properties.timestampSeconds
        priority = properties.priority
        self.provenance = provenance
        headers = FieldTable(
            (properties.headers?.entries ?? []).filter {
                !Self.headersLeftOut.contains($0.name) && $0.value != .unreadable
            })
    }

    private static let headersLeftOut = ["x-delivery-count", "x-acquired-count", "CC", "BCC"]

    /// Returns the message for a queue. Filters the headers again, because a message from a file may contain any
    /// header.
    ///
    /// If the provenance is known, the message carries the user ID of its publisher, which preserves the provenance.
    /// If the provenance is the broker, a worker's provenance headers are omitted, because the user ID would make the
    /// headers trusted, too.
    package func message(to queue: String) -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: "", routingKey: queue, body: body, messageID: messageID ?? "", contentType: contentType,
            headers: FieldTable(
                headers.entries.filter { entry in
                    !Self.headersLeftOut.contains(entry.name)
                        && (provenance != .broker || !MessageHeaderName.provenance.contains(entry.name))
                }))
        message.carriesUserID = provenance != .unknown
        message.contentEncoding = contentEncoding
        message.correlationID = correlationID
        message.replyTo = replyTo
        message.type = type
        message.appID = appID
        message.timestampSeconds = timestampSeconds
        message.priority = priority
        return message
    }
}
