import AMQP
import Text

extension DeliveryRecord {
    /// Bytes of headers that are copied from a request: with those of the worker they fit one frame.
    private static let copiedHeaderBytesMax = 8192

    /// The message as its producer published it, without headers and without an expiration: the broker would act on it.
    /// It carries the worker's user ID, never the producer's: the broker would refuse that.
    func republished(exchange: String, routingKey: String) -> OutgoingMessage {
        let properties = delivery.properties
        func cut(_ text: String?) -> String? { text?.cut(to: MessageHeaderName.copyBytesMax) }
        var message = OutgoingMessage(
            exchange: exchange, routingKey: routingKey, content: delivery.content.body,
            messageID: cut(properties.messageID) ?? messageID, contentType: cut(properties.contentType))
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

    /// As its producer set it, also after a wait; nil when it did not.
    var priority: UInt8? {
        let properties = delivery.properties
        return properties.priority
            ?? properties.header(MessageHeaderName.priority)?.integerValue.flatMap { UInt8(exactly: $0) }
    }

    /// The producer's own headers, after ours, as far as there is room; its trace context is for `copyTraceContext`.
    func copyProducersHeaders(to headers: inout FieldTable) {
        guard let theirs = delivery.properties.headers else { return }
        // `copyOrigin` has copied all of the provenance that is believed.
        var names = MessageHeaderName.provenance.union(headers.entries.map(\.name))
        names.formUnion([MessageHeaderName.traceParent, MessageHeaderName.traceState])
        var left = Self.copiedHeaderBytesMax
        // A name that comes twice is illegal in a table (AMQP 0-9-1, section 4.2.5.5), but brokers let it pass.
        for entry in theirs.entries where names.insert(entry.name).inserted {
            guard !MessageHeaderName.belongsToBroker(entry.name), entry.wireBytes <= left, !entry.value.isUnreadable,
                !entry.isOfAnEarlierRound, !entry.isMisread
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
    /// What a worker wrote the last time and did not write again no longer holds.
    fileprivate var isOfAnEarlierRound: Bool { MessageHeaderName.ofOneRound.contains(name) }

    /// Has a name of ours, and a type that whoever reads it by that name does not expect.
    fileprivate var isMisread: Bool { name == MessageHeaderName.firstFailedAt && value.integerValue == nil }
}
