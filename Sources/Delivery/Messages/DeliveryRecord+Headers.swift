import AMQP
import Crypto
import Telemetry
import Text

extension DeliveryRecord {
    /// The namespace of UUIDv5 ids that are derived from a message's text or bytes. A random constant of this project.
    static let namespace = UUIDValue(high: 0x8a1f_0b3e_5c7d_4e21, low: 0x9b64_2f0d_7c35_a9e8)

    func bundleID(_ apps: AppDirectory) -> String? {
        switch app {
        case .configured(let index): apps[index].bundleID
        case .unknown(let text): text
        case nil: nil
        }
    }

    /// Returns the bundle ID for logs and spans. The name of an app that is not configured may be a device token.
    func redactedBundleID(_ apps: AppDirectory) -> String? {
        if case .unknown(let text) = app { RedactedText.sentence(text) } else { bundleID(apps) }
    }

    /// Returns a message id for a request whose id is unknown, or whose body, which contains the id, was dropped.
    func makeFallbackMessageID() -> String {
        if let id = delivery.properties.messageID, !id.isEmpty { return id.cut(to: MessageHeaderName.copyBytesMax) }
        // An oversized body was dropped, so no id can be derived from it.
        if delivery.isOversized, let random = try? UUIDValue.random() { return random.description }
        return delivery.content.withBody { UUIDValue(name: $0, namespace: Self.namespace) }.description
    }

    /// Appends the origin of the request, for operators. A request that a worker republished keeps the origin that the
    /// first worker wrote.
    func copyOrigin(_ worker: WorkerIdentity, to headers: inout FieldTable) {
        let properties = delivery.properties
        // A worker does not write empty values. Do not replace a missing value with the value of this delivery, which
        // would be wrong.
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
        headers.append(MessageHeaderName.worker, .string(worker.shortName))
        fanoutOrigin?.append(to: &headers)
    }

    /// Appends the trace context: the span of the delivery if its spans are exported, otherwise the producer's context.
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

    /// The producer's trace context, from the headers or from the attributes of its event.
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
    /// The leading list members that fit completely; nil if none fits. A truncated value of a vendor would be another
    /// value (W3C Trace Context, section 3.3.1.5).
    fileprivate var shortTraceState: String? {
        guard utf8.count > MessageHeaderName.traceStateBytesMax else { return self }
        let start = cut(to: MessageHeaderName.traceStateBytesMax + 1)
        return start.lastIndex(of: ",").map { String(start[..<$0]) }
    }
}
