import AMQP
import Crypto
import Telemetry
import Text

extension DeliveryRecord {
    /// Namespace of the ids that are made from a message's text or bytes; drawn at random once, for this project.
    static let namespace = UUIDValue(high: 0x8a1f_0b3e_5c7d_4e21, low: 0x9b64_2f0d_7c35_a9e8)

    func bundleID(_ apps: AppDirectory) -> String? {
        switch app {
        case .configured(let index): apps[index].bundleID
        case .unknown(let text): text
        case nil: nil
        }
    }

    /// For a message whose own is not known, or whose body, and with it its id, is not here.
    func makeOtherMessageID() -> String {
        if let id = delivery.properties.messageID, !id.isEmpty { return id.cut(to: MessageHeaderName.copyBytesMax) }
        // Nothing of a body that was too large is left to know it by.
        if delivery.isOversized, let random = try? UUIDValue.random() { return random.description }
        return delivery.content.withBody { UUIDValue(name: $0, namespace: Self.namespace) }.description
    }

    /// Where the message came from, for operators; a message that came back keeps what the first worker wrote.
    func copyOrigin(_ worker: WorkerIdentity, to headers: inout FieldTable) {
        let properties = delivery.properties
        // An empty value was not written: the delivery's own would be wrong in its place.
        let isFromWorker =
            worker.published(properties) && properties.header(MessageHeaderName.originQueue) != nil
        func copy(_ name: String, _ value: String?) {
            let value = isFromWorker ? properties.header(name)?.stringValue : value
            guard let value, !value.isEmpty else { return }
            headers.append(name, .string(value.cut(to: MessageHeaderName.copyBytesMax)))
        }
        copy(MessageHeaderName.originQueue, delivery.queue)
        copy(MessageHeaderName.originExchange, delivery.exchange)
        copy(MessageHeaderName.originRoutingKey, delivery.routingKey)
        copy(MessageHeaderName.originalMessageID, properties.messageID)
        if let seconds = properties.timestampSeconds {
            headers.append(MessageHeaderName.originalTimestamp, .timestamp(seconds: seconds))
        }
        headers.append(MessageHeaderName.worker, .string(worker.name.cut(to: MessageHeaderName.copyBytesMax)))
    }

    /// What comes of a delivery belongs below it in the trace, where that is kept.
    func copyTraceContext(to headers: inout FieldTable) {
        let producers = traceContext
        func append(_ name: String, _ value: String?) {
            guard let value else { return }
            headers.append(name, .string(value))
        }
        let own = trace?.context.traceParent
        append(MessageHeaderName.traceParent, own ?? producers.parent?.cut(to: MessageHeaderName.copyBytesMax))
        append(MessageHeaderName.traceState, producers.state?.shortTraceState)
    }

    /// The producer's, from the message's headers, else from the attributes of its event.
    var traceContext: (parent: String?, state: String?) {
        let properties = delivery.properties
        guard event != nil || properties.hasHeaders else { return (nil, nil) }
        if let parent = properties.header(MessageHeaderName.traceParent)?.stringValue {
            return (parent, properties.header(MessageHeaderName.traceState)?.stringValue)
        }
        let event = event ?? CloudEvent(properties)
        return (event?.traceParent, event?.traceState)
    }
}

extension String {
    /// The first members of the list, whole: a vendor's value that is cut is another (W3C Trace Context, section 3.3.1.5).
    fileprivate var shortTraceState: String? {
        guard utf8.count > MessageHeaderName.traceStateBytesMax else { return self }
        let start = cut(to: MessageHeaderName.traceStateBytesMax + 1)
        return start.lastIndex(of: ",").map { String(start[..<$0]) }
    }
}
