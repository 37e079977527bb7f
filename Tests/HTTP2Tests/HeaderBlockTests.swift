import Testing

@testable import HTTP2

@Suite struct HeaderBlockTests {
    private func fields(_ block: HeaderBlock) -> [String] {
        func text(_ part: HeaderBlock.Part) -> String {
            switch part {
            case .constant(let text): "\(text)"
            case .stored(let start, let count): String(decoding: block.bytes[start..<start + count], as: UTF8.self)
            }
        }
        return block.fields.map { "\(text($0.name))=\(text($0.value))" }
    }

    @Test func fieldsKeepTheirOrder() {
        var block = HeaderBlock()
        block.append(":method", "POST")
        block.append("empty", "")
        block.append("topic", Array("com.example".utf8))
        block.append(name: "x", value: "y")
        block.append("path", valueBytesMax: 10, indexing: .never) { space in
            space[0] = UInt8(ascii: "/")
            return 1
        }
        #expect(fields(block) == [":method=POST", "empty=", "topic=com.example", "x=y", "path=/"])
        #expect(block.fields.map(\.indexing) == [.indexed, .indexed, .indexed, .indexed, .never])
    }

    @Test(arguments: [0, 7, -1, 10, 1_767_225_600, .max, .min] as [Int64])
    func numbersAreWrittenInDecimal(number: Int64) {
        var block = HeaderBlock()
        block.append("n", number)
        #expect(fields(block) == ["n=\(number)"])
    }

    @Test func anEmptiedBlockHasNoFields() {
        var block = HeaderBlock()
        block.append("a", "1")
        block.removeAll()
        #expect(fields(block) == [])
    }

    @Test(arguments: [
        ("plain", true), ("", true), ("two words", true), ("tab\tinside", true), ("grüße", true), (" lead", false),
        ("trail ", false), ("\ttab", false), ("new\nline", false), ("return\r", false), ("nul\0", false),
        ("del\u{7F}", false), ("bell\u{7}", false),
    ])
    func valuesThatAPeerWouldRefuseAreDetected(value: String, isWellFormed: Bool) {
        #expect(Array(value.utf8).withUnsafeBytes { HeaderBlock.isWellFormedValue($0) } == isWellFormed)
    }
}
