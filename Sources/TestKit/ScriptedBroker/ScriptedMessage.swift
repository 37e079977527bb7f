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
    /// When the queue's time to live, or its own, ends it.
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
    public var properties: MessageProperties { MessageProperties(storage: envelope.propertyList) }

    /// The property list for a delivery: with `x-delivery-count` once it was delivered before.
    var deliveredPropertyList: [UInt8] {
        guard deliveryCount > 0 else { return envelope.propertyList }
        var envelope = envelope
        envelope.setHeaders([("x-delivery-count", .integer(Int64(deliveryCount)))])
        return envelope.propertyList
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
        var changed = [("x-death", FieldValue.array(deaths.map(FieldValue.table)))]
        if properties.header("x-first-death-queue") == nil {
            changed += [
                ("x-first-death-reason", .string(reason)), ("x-first-death-queue", .string(queue)),
                ("x-first-death-exchange", .string(self.exchange)),
            ]
        }
        envelope.setHeaders(changed)
        envelope.removeExpiration()
        self.exchange = exchange
        self.routingKey = routingKey
        deliveryCount = 0
        expiresAt = nil
    }
}
