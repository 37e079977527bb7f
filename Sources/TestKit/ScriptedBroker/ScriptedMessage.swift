public import AMQP
import EventLoop

/// A message in a queue of the scripted broker.
public struct ScriptedMessage: Sendable {
    /// Counted from 1 in the order in which the broker took them; a copy in another queue has the same.
    public let number: Int
    public internal(set) var exchange: String
    public internal(set) var routingKey: String
    public let body: [UInt8]
    /// How often it was delivered in vain.
    public internal(set) var deliveryCount = 0
    /// When the queue's time to live ends it.
    var expiresAt: MonotonicTime?
    private var envelope: ScriptedEnvelope

    init(number: Int, exchange: String, routingKey: String, propertyList: [UInt8], body: [UInt8]) {
        self.number = number
        self.exchange = exchange
        self.routingKey = routingKey
        self.body = body
        envelope = ScriptedEnvelope(propertyList: propertyList)
    }

    /// As its consumer would read them, without what the broker adds at a delivery.
    public var properties: MessageProperties { MessageProperties(storage: envelope.propertyList()) }

    /// The property list for a delivery: with `x-delivery-count` once it was delivered before.
    var deliveredPropertyList: [UInt8] {
        guard deliveryCount > 0 else { return envelope.propertyList() }
        var envelope = envelope
        envelope.setHeader("x-delivery-count", .integer(Int64(deliveryCount)))
        return envelope.propertyList()
    }

    /// Whether dead-lettering it into `queue` would close a circle without a rejection, which the broker breaks by
    /// dropping the message.
    func closesCircle(into queue: String) -> Bool {
        let deaths = deaths
        guard let index = deaths.firstIndex(where: { $0["queue"]?.stringValue == queue }) else { return false }
        return deaths[...index].allSatisfy { $0["reason"]?.stringValue != "rejected" }
    }

    private var deaths: [FieldTable] {
        guard case .array(let values) = properties.header("x-death") else { return [] }
        return values.compactMap { if case .table(let table) = $0 { table } else { nil } }
    }

    /// Notes a death as RabbitMQ 3.10 does, the newest in front, and makes the message one of the dead-letter exchange.
    mutating func die(
        of reason: String, in queue: String, unixSeconds: Int64, exchange: String, routingKey: String
    ) {
        var deaths = deaths
        var death: FieldTable = [
            "count": 1, "reason": .string(reason), "queue": .string(queue),
            "time": .timestamp(seconds: UInt64(max(0, unixSeconds))), "exchange": .string(self.exchange),
            "routing-keys": .array([.string(self.routingKey)]),
        ]
        if let index = deaths.firstIndex(where: {
            $0["queue"]?.stringValue == queue && $0["reason"]?.stringValue == reason
        }) {
            death = deaths.remove(at: index)
            death.entries = death.entries.map { entry in
                guard entry.name == "count", let count = entry.value.integerValue else { return entry }
                return FieldTable.Entry("count", .integer(count + 1))
            }
        }
        deaths.insert(death, at: 0)
        envelope.setHeader("x-death", .array(deaths.map(FieldValue.table)))
        if properties.header("x-first-death-queue") == nil {
            envelope.setHeader("x-first-death-reason", .string(reason))
            envelope.setHeader("x-first-death-queue", .string(queue))
            envelope.setHeader("x-first-death-exchange", .string(self.exchange))
        }
        self.exchange = exchange
        self.routingKey = routingKey
        deliveryCount = 0
        expiresAt = nil
    }
}

/// A property list that is kept as it came; headers can be set without reading the others.
struct ScriptedEnvelope: Sendable {
    private static let headersFlag: UInt16 = 1 << 13

    private var flags: UInt16 = 0
    private var beforeHeaders: [UInt8] = []
    /// Names and encoded values, as they came; `nil` names are what could not be read.
    private var headers: [(name: String, encoded: [UInt8])] = []
    private var afterHeaders: [UInt8] = []

    init(propertyList: [UInt8]) {
        propertyList.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            flags = reader.short() ?? 0
            let start = reader.rest
            for bit in [UInt16(15), 14] where flags & (1 << bit) != 0 { _ = reader.shortString() }
            beforeHeaders = Array(start.dropLast(reader.rest.count))
            if flags & Self.headersFlag != 0, let content = reader.longString() {
                readHeaders(WireReader(content))
            }
            afterHeaders = Array(reader.rest)
        }
    }

    private mutating func readHeaders(_ reader: WireReader) {
        var reader = reader
        while let name = reader.shortString() {
            let start = reader.rest
            guard FieldValue.skip(&reader) else { return }
            headers.append((String(wire: name), Array(start.dropLast(reader.rest.count))))
        }
    }

    /// Replaces the header of this name, or adds it at the end.
    mutating func setHeader(_ name: String, _ value: FieldValue) {
        var writer = WireWriter()
        writer.entry(name, value)
        let encoded = Array(writer.bytes.dropFirst(1 + name.utf8.count))
        flags |= Self.headersFlag
        if let index = headers.firstIndex(where: { $0.name == name }) {
            headers[index].encoded = encoded
        } else {
            headers.append((name, encoded))
        }
    }

    func propertyList() -> [UInt8] {
        var writer = WireWriter()
        writer.short(flags)
        writer.raw(beforeHeaders)
        if flags & Self.headersFlag != 0 {
            var content = WireWriter()
            for header in headers {
                content.shortString(header.name)
                content.raw(header.encoded)
            }
            writer.longString(content.bytes)
        }
        writer.raw(afterHeaders)
        return writer.bytes
    }
}
