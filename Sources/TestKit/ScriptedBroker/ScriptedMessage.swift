public import AMQP
import EventLoop

/// A message in a queue of the scripted broker.
public struct ScriptedMessage: Sendable {
    /// The sequence number of the publish, starting at 1. All queues that receive the message share the
    /// number.
    public let number: Int
    public internal(set) var exchange: String
    public internal(set) var routingKey: String
    public let body: [UInt8]
    /// The number of failed deliveries.
    public internal(set) var deliveryCount = 0
    /// The time at which the message expires; nil for never.
    var expiresAt: MonotonicTime?
    private var envelope: ScriptedEnvelope

    init(number: Int, exchange: String, routingKey: String, propertyList: [UInt8], body: [UInt8]) {
        self.number = number
        self.exchange = exchange
        self.routingKey = routingKey
        self.body = body
        envelope = ScriptedEnvelope(propertyList: propertyList)
    }

    /// The properties, without the headers that the broker adds on delivery.
    public var properties: MessageProperties { MessageProperties(storage: envelope.propertyList) }

    /// Sets the header with the offset in a stream. A stream keeps its messages, so they do not expire one by one.
    mutating func enterStream(at offset: Int64) {
        envelope.setHeaders([("x-stream-offset", .integer(offset))])
        expiresAt = nil
    }

    /// The property list for a delivery, which includes `x-delivery-count` for a redelivery.
    var deliveredPropertyList: [UInt8] {
        guard deliveryCount > 0 else { return envelope.propertyList }
        var envelope = envelope
        envelope.setHeaders([("x-delivery-count", .integer(Int64(deliveryCount)))])
        return envelope.propertyList
    }

    /// Returns whether dead-lettering the message to `queue` would close a cycle without a rejection.
    ///
    /// The broker breaks such a cycle by dropping the message.
    func closesCycle(into queue: String) -> Bool {
        let deaths = deaths
        guard let index = deaths.firstIndex(where: { $0["queue"]?.stringValue == queue }) else { return false }
        return deaths[...index].allSatisfy { $0["reason"]?.stringValue != "rejected" }
    }

    private var deaths: [FieldTable] {
        guard case .array(let values) = properties.header("x-death") else { return [] }
        return values.compactMap { if case .table(let table) = $0 { table } else { nil } }
    }

    /// Records a death in `x-death` as RabbitMQ 3.10 does, newest first. Sets the exchange and the routing key of the
    /// dead letter. Removes the expiration, and resets the delivery count.
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
