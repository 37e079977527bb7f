package import AMQP
package import Delivery

/// A message with all that can be published again: body, properties and headers.
///
/// It has no expiration, at which the broker would drop the copy, and not the user that published the message: the broker
/// accepts only the user that publishes now (https://www.rabbitmq.com/docs/validated-user-id).
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
    /// Without what the broker writes at each delivery, and what would route a copy further.
    package var headers = FieldTable()
    /// The source that confirms its origin.
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

    /// As it is, straight to a queue. What was read from a file may hold any header.
    ///
    /// A copy whose provenance is known carries the user that publishes it, so that its provenance stays known. If the
    /// broker vouches, the headers of a worker's provenance are left out: that user would vouch for them, too.
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
