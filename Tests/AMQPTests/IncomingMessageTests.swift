import AMQP
import TestKit
import Testing

@Suite struct IncomingMessageTests {
    private static func deliveryCount(_ headers: FieldTable?, isRedelivered: Bool = true) -> Int {
        var properties = WireWriter()
        properties.short(headers == nil ? 0 : 1 << 13)
        if let headers { properties.table(headers) }
        return IncomingMessage(
            tag: DeliveryTag(number: 1, generation: 1, bytes: 0), queue: "q", isRedelivered: isRedelivered,
            content: MessageContent(body: [], envelope: properties.bytes)
        ).deliveryCount
    }

    @Test func theDeliveryCountIsReadFromTheHeader() {
        #expect(Self.deliveryCount(["x-delivery-count": 3]) == 3)
        #expect(Self.deliveryCount(["x-acquired-count": 7, "x-delivery-count": 1]) == 1)
        #expect(Self.deliveryCount(["x-acquired-count": 7]) == 0)
        #expect(Self.deliveryCount([:]) == 0)
        #expect(Self.deliveryCount(nil) == 0)
    }

    @Test func invalidHeadersHaveNoDeliveryCount() {
        #expect(Self.deliveryCount(["x-delivery-count": -1]) == 0)
        #expect(Self.deliveryCount(["x-delivery-count": .integer(.max)]) == .max)
        #expect(Self.deliveryCount(["x-delivery-count": "3"]) == 0)
        #expect(Self.deliveryCount(["x-delivery-count": 3], isRedelivered: false) == 0)
    }

    @Test func anotherBodyKeepsTheEnvelope() {
        var envelope = WireWriter()
        envelope.short(1 << 13)
        envelope.table(["x-delivery-count": 3])
        let message = IncomingMessage(
            tag: DeliveryTag(number: 1, generation: 1, bytes: 4), queue: "q", isRedelivered: true,
            content: MessageContent(
                body: Array("body".utf8), envelope: Array("exchangekey".utf8) + envelope.bytes, exchangeBytes: 8,
                routingKeyBytes: 3))
        // The new body also replaces the body if it needs more bytes than reserved.
        for body in ["", "a longer body"] {
            let other = message.replacingBody(bytesReserved: 1) { $0 += body.utf8 }
            #expect(other.body == Array(body.utf8) && other.bodySize == UInt64(body.utf8.count))
            #expect(other.exchange == "exchange" && other.routingKey == "key" && other.deliveryCount == 3)
            #expect(other.tag == message.tag && other.queue == "q")
        }
    }
}
