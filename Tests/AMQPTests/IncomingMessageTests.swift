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
}
