import AMQP
import EventLoop
import Testing

@Suite struct MessagePropertiesTests {
    private static func short(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func long(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: UInt32(bytes.count) >> $0) } + bytes
    }

    private static let headers: [UInt8] =
        short("flag") + [UInt8(ascii: "t"), 1] + short("int") + [UInt8(ascii: "I"), 255, 255, 255, 254]
        + short("nested") + [UInt8(ascii: "F")] + long(short("in") + [UInt8(ascii: "S")] + long(Array("side".utf8)))
        + short("list") + [UInt8(ascii: "A")] + long([UInt8(ascii: "b"), 0x80, UInt8(ascii: "V")])
        + short("text") + [UInt8(ascii: "S")] + long(Array("grüße".utf8))
        + short("small") + [UInt8(ascii: "s"), 255, 254]
        + short("when") + [UInt8(ascii: "T"), 0, 0, 0, 0, 0, 0, 1, 0]

    /// An encoded property list with all fourteen properties.
    private static let all: [UInt8] =
        [0b1111_1111, 0b1111_1100] + short("application/json") + short("utf-8") + long(headers) + [2, 7]
        + short("corr") + short("reply") + short("60000") + short("id-1") + [0, 0, 0, 0, 0, 0, 1, 44] + short("type")
        + short("user") + short("app") + short("cluster")

    @Test func allPropertiesAreRead() {
        // Other bytes precede the property list, as in a delivery.
        let properties = MessageProperties(storage: [1, 2, 3] + Self.all, start: 3)
        #expect(properties.contentType == "application/json")
        #expect(properties.contentEncoding == "utf-8")
        #expect(properties.deliveryMode == 2)
        #expect(properties.priority == 7)
        #expect(properties.correlationID == "corr")
        #expect(properties.replyTo == "reply")
        #expect(properties.expiration == "60000")
        #expect(properties.messageID == "id-1")
        #expect(properties.timestampSeconds == 300)
        #expect(properties.type == "type")
        #expect(properties.userID == "user")
        #expect(properties.appID == "app")
        #expect(properties.header("flag") == true)
        #expect(properties.header("int") == -2)
        #expect(properties.header("small") == -2)
        #expect(properties.header("text") == "grüße")
        #expect(properties.header("when") == .timestamp(seconds: 256))
        #expect(properties.header("nested") == .table(["in": "side"]))
        #expect(properties.header("list") == .array([-128, .void]))
        #expect(properties.header("none") == nil)
        #expect(properties.headers?.entries.map(\.name) == ["flag", "int", "nested", "list", "text", "small", "when"])
    }

    @Test func absentPropertiesAreNil() {
        let properties = MessageProperties(storage: [0, 0x80] + Self.short("id"), start: 0)
        #expect(properties.messageID == "id")
        #expect(properties.contentType == nil)
        #expect(properties.headers == nil)
        #expect(properties.timestampSeconds == nil)
    }

    @Test func propertiesBeforeTheHeadersAreNotInTheSum() {
        let headers = Self.long(Self.headers) + [2]
        let sums = [
            [0b0011_0000, 0] + headers, [0b1011_0000, 0] + Self.short("text/plain") + headers,
            [0b0111_0000, 0] + Self.short("gzip") + headers,
        ].map { (storage: [UInt8]) in
            MessageProperties(storage: storage).publishersSum { bytes in
                bytes.reduce(1) { $0 &* 31 &+ UInt64($1) }
            }
        }
        #expect(sums[0] != 0)
        #expect(sums[1] == sums[0])
        #expect(sums[2] == sums[0])
    }

    @Test func unreadablePropertiesHaveNoSum() {
        for storage in [[], [0x20, 0, 0, 0, 0, 9], [0x80, 0, 9], [0x40, 0, 9]] as [[UInt8]] {
            #expect(MessageProperties(storage: storage).publishersSum { _ in 7 } == 0)
        }
    }

    @Test func aHeaderWithoutItsValueIsNotInTheSum() {
        let properties = MessageProperties(storage: [0x20, 0, 0, 0, 0, 2, 1, UInt8(ascii: "a")])
        #expect(properties.publishersSum { UInt64($0.count) } == 0)
    }

    @Test func unknownFlagsAreSkipped() {
        let properties = MessageProperties(storage: [0, 0x81, 0, 1, 0, 0] + Self.short("id"), start: 0)
        #expect(properties.messageID == "id")
    }

    @Test func truncatedPropertiesAreNil() {
        for count in 0..<Self.all.count {
            let properties = MessageProperties(storage: Array(Self.all[..<count]), start: 0)
            #expect(properties.appID == nil || count > Self.all.count - 9)
            _ = properties.header("when")
            _ = properties.headers
        }
        #expect(MessageProperties(storage: [], start: 5).contentType == nil)
    }

    // Each nested array needs five bytes. Each nested table needs a sixth byte for the empty name of its only field.
    @Test(arguments: [[UInt8(ascii: "A")], [0, UInt8(ascii: "F")]])
    func deeplyNestedHeadersAreReadWithABoundedStack(opening: [UInt8]) throws {
        let levels = 130_000 / (opening.count + 4)
        var nest: [UInt8] = []
        for level in 0..<levels {
            let inner = (levels - level - 1) * (opening.count + 4)
            nest += opening + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: inner >> $0) }
        }
        let headers =
            Self.short("deep") + nest.drop { $0 == 0 } + Self.short("after") + [UInt8(ascii: "t"), 1]
        let properties = MessageProperties(storage: [0x20, 0] + Self.long(headers), start: 0)
        #expect(properties.header("after") == true)
        var deep = try #require(properties.headers)["deep"]
        var depth = 0
        while let value = deep, value != .unreadable {
            depth += 1
            switch value {
            case .array(let values): deep = values.first
            case .table(let table): deep = table.entries.first?.value
            default: deep = nil
            }
        }
        #expect(depth == 7, "the nesting depth in the table of headers is not 7")
    }

    @Test(arguments: 0..<200)
    func randomBytesAreReadOrNil(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bytes = Self.all
        for _ in 0...random.below(8) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
        for storage in [bytes, (0..<random.below(400)).map { _ in UInt8(random.below(256)) }] {
            let properties = MessageProperties(storage: storage, start: 0)
            _ = [
                properties.contentType, properties.contentEncoding, properties.correlationID, properties.replyTo,
                properties.expiration, properties.messageID, properties.type, properties.userID, properties.appID,
            ]
            _ = (properties.deliveryMode, properties.priority, properties.timestampSeconds, properties.headers)
            _ = properties.header("when")
        }
    }
}
