import AMQP
import Testing

struct MessageFingerprintTests {
    private static func of(
        exchange: String = "x", routingKey: String = "k", messageID: String = "1", headers: FieldTable = FieldTable(),
        body: ArraySlice<UInt8> = []
    ) -> MessageFingerprint {
        MessageFingerprint(
            exchange: exchange, routingKey: routingKey, messageID: messageID, headers: headers, body: body)
    }

    @Test func everyPartAffectsTheFingerprint() {
        let one = Self.of(headers: ["a": 1], body: [1])
        #expect(one == Self.of(headers: ["a": 1], body: [1]))
        for other in [
            Self.of(exchange: "y", headers: ["a": 1], body: [1]),
            Self.of(routingKey: "l", headers: ["a": 1], body: [1]),
            Self.of(messageID: "2", headers: ["a": 1], body: [1]),
            Self.of(headers: ["a": 2], body: [1]), Self.of(headers: ["a": 1], body: [2]),
            Self.of(headers: ["a": 1]), Self.of(body: [1]),
        ] {
            #expect(one != other)
        }
    }

    // Moving bytes from one part to the next changes the fingerprint.
    @Test func partsAreHashedSeparately() {
        #expect(Self.of(exchange: "ab", routingKey: "c") != Self.of(exchange: "a", routingKey: "bc"))
    }

    // A header value of an unknown type is written as void, at any depth.
    @Test func headersAreHashedAsAPeerReadsThem() {
        let sent: FieldTable = ["list": .array([.unreadable, .table(["in": .unreadable])]), "a": .unreadable]
        let back: FieldTable = ["list": .array([.void, .table(["in": .void])]), "a": .void]
        #expect(Self.of(headers: sent) == Self.of(headers: back))
    }
}
