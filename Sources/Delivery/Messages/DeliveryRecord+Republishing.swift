import AMQP
import Text

extension DeliveryRecord {
    /// The maximum size of the headers that are copied from a request, in bytes. Together with the worker's headers,
    /// they fit one frame of RabbitMQ's default size.
    private static let copiedHeaderBytesMax = 8192

    /// Returns the request as its producer published it, but without its headers and `expiration`. The broker would act
    /// on the `expiration`. The message carries the worker's user ID, since the broker would refuse the producer's user
    /// ID.
    func republished(exchange: String, routingKey: String) -> OutgoingMessage {
        let properties = delivery.properties
        func cut(_ text: String?) -> String? { text?.cut(to: MessageHeaderName.copyBytesMax) }
        var message = OutgoingMessage(
            exchange: exchange, routingKey: routingKey, content: delivery.content.body,
            messageID: cut(properties.messageID) ?? messageID, contentType: cut(properties.contentType))
        if fanoutOrigin != nil {
            // The properties may be those of the request to users.
            message.messageID = messageID
            if event != nil { message.contentType = "application/json" }
        }
        message.contentEncoding = cut(properties.contentEncoding)
        message.correlationID = cut(properties.correlationID)
        message.replyTo = cut(properties.replyTo)
        message.type = cut(properties.type)
        message.appID = cut(properties.appID)
        message.timestampSeconds = properties.timestampSeconds
        message.priority = priority
        message.carriesUserID = true
        return message
    }

    /// The priority that the producer set, also after a wait; nil if the producer set no priority.
    var priority: UInt8? {
        let properties = delivery.properties
        return properties.priority
            ?? properties.header(MessageHeaderName.priority)?.integerValue.flatMap { UInt8(exactly: $0) }
    }

    /// Appends the producer's headers that fit. `copyTraceContext` appends the trace context.
    func copyProducersHeaders(to headers: inout FieldTable) {
        guard let theirs = delivery.properties.headers else { return }
        // `copyOrigin` has copied the trusted provenance.
        var names = MessageHeaderName.provenance.union(headers.entries.map(\.name))
        names.formUnion([MessageHeaderName.traceParent, MessageHeaderName.traceState])
        if names.contains(MessageHeaderName.cursor) {
            // The next delivery continues from this cursor, and would start over with the mark of an edit.
            names.insert(MessageHeaderName.editedFrom)
        } else if theirs[MessageHeaderName.editedFrom] != nil {
            // The cursor belongs to the request before its edit.
            names.insert(MessageHeaderName.cursor)
        }
        var left = Self.copiedHeaderBytesMax
        // A duplicate name is illegal in a table (AMQP 0-9-1, section 4.2.5.5), but brokers accept it.
        for entry in theirs.entries where names.insert(entry.name).inserted {
            guard !MessageHeaderName.belongsToBroker(entry.name), entry.wireBytes <= left, !entry.value.isUnreadable,
                !entry.isFromEarlierRound, !entry.isMisread
            else { continue }
            left -= entry.wireBytes
            headers.entries.append(entry)
        }
    }
}

extension FieldValue {
    fileprivate var isUnreadable: Bool { self == .unreadable }
}

extension FieldTable.Entry {
    /// Whether the header applies to a single round, so that its value is obsolete.
    fileprivate var isFromEarlierRound: Bool { MessageHeaderName.singleRound.contains(name) }

    /// Whether the header is `push-first-failed-at` with a type that the readers of this header do not expect.
    fileprivate var isMisread: Bool { name == MessageHeaderName.firstFailedAt && value.integerValue == nil }
}
