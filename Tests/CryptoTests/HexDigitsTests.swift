import Testing

@testable import Crypto

@Suite struct HexDigitsTests {
    private static func word(_ text: [UInt8]) -> UInt64 { text.reduce(0) { $0 << 8 | UInt64($1) } }

    @Test func everyByteAtEveryPosition() {
        for place in 0..<8 {
            for byte in UInt8.min...UInt8.max {
                var text = Array("0123abCD".utf8)
                text[place] = byte
                // `UInt64(_:radix:)` also accepts a sign.
                let expected =
                    byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte >= 0x80
                    ? nil : UInt64(String(decoding: text, as: UTF8.self), radix: 16)
                #expect(HexDigits.value(Self.word(text)) == expected, "\(text)")
            }
        }
    }

    @Test func numbersRoundTrip() {
        var number: UInt64 = 1
        for _ in 0..<10_000 {
            number = (number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407)
            let part = number >> 32
            let digits = String(part, radix: 16)
            let text = String(repeating: "0", count: 8 - digits.count) + digits
            #expect(HexDigits.text(part) == Self.word(Array(text.utf8)))
            #expect(HexDigits.value(HexDigits.text(part)) == part)
        }
    }
}
