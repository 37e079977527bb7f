import JSON
import Testing

/// Tests how each kind of value is read and written, and which error other values cause.
@Suite struct ValueCodecTests {
    private enum Color: String, CaseIterable, Sendable {
        case red
        case darkBlue = "dark_blue"
    }

    private func expect<Value: Equatable>(
        _ text: String, _ codec: ValueCodec<Value>, reads value: Value, writes written: String? = nil
    ) throws {
        #expect(try codec.read(try JSONDocument(text).root, "it") == value)
        #expect(json { codec.write(value, to: &$0) } == written ?? text)
    }

    private func expect<Value>(_ text: String, _ codec: ValueCodec<Value>, fails message: String, at place: Int = 0)
        throws
    {
        let error = #expect(throws: InputError.self) { try codec.read(try JSONDocument(text).root, "it") }
        #expect(error == InputError(message, node: place))
    }

    @Test func booleans() throws {
        try expect("true", .bool, reads: true)
        try expect("1", ValueCodec<Bool>.bool, fails: "it must be true or false")
    }

    @Test func anyWholeNumberAndAnyText() throws {
        try expect("-9223372036854775808", ValueCodec<Int>.integer, reads: .min)
        try expect("1.5", ValueCodec<Int>.integer, fails: "it must be a whole number")
        try expect(#""""#, ValueCodec<String>.text, reads: "")
        try expect("1", ValueCodec<String>.text, fails: "it must be a text")
        try expect(#"["a",""]"#, ValueCodec<[String]>.texts, reads: ["a", ""])
        try expect("[1]", ValueCodec<[String]>.texts, fails: "an element must be a text", at: 1)
    }

    @Test func wholeNumbersWithinTheirLimits() throws {
        let codec = ValueCodec<Int>.int(-1...9)
        try expect("-1", codec, reads: -1)
        try expect("9", codec, reads: 9)
        try expect("9.0", codec, reads: 9, writes: "9")
        for text in ["-2", "10", "1.5", "1e99", #""1""#, "null", "[]"] {
            try expect(text, codec, fails: "it must be a whole number from -1 to 9")
        }
        try expect("4294967295", ValueCodec<UInt32>.int(0...UInt32.max), reads: .max)
        try expect(
            "4294967296", ValueCodec<UInt32>.int(0...UInt32.max),
            fails: "it must be a whole number from 0 to 4294967295")
    }

    @Test func numbersWithinTheirLimits() throws {
        try expect("0.25", .number(0...1), reads: 0.25)
        for text in ["-0.1", "1.1", "1e999", #""1""#] {
            try expect(text, ValueCodec<Double>.number(0...1), fails: "it must be a number from 0.0 to 1.0")
        }
    }

    @Test func textsWithinTheirLimits() throws {
        let codec = ValueCodec<String>.text(1...4)
        try expect(#""äö""#, codec, reads: "äö")
        for text in [#""""#, #""äöu""#, "null"] {
            try expect(text, codec, fails: "it must be a text of 1 to 4 bytes")
        }
        try expect("12", codec, fails: "it must be a text of 1 to 4 bytes; write the value in quotes")
        try expect(#""""#, .text(0...4), reads: "")
    }

    @Test func words() throws {
        try expect(#""dark_blue""#, .word, reads: Color.darkBlue)
        try expect(#""rde""#, ValueCodec<Color>.word, fails: "it must be red or dark_blue; did you mean red?")
        try expect("7", ValueCodec<Color>.word, fails: "it must be red or dark_blue")
        #expect(ValueCodec<Color>.word.words == ["red", "dark_blue"])
        try expect(#""b""#, .word(of: ["a", "b"]), reads: "b")
    }

    @Test func nullIsNil() throws {
        let codec = ValueCodec<Int>.int(0...9).nullable
        try expect("null", codec, reads: nil)
        try expect("3", codec, reads: 3)
        try expect("10", codec, fails: "it must be a whole number from 0 to 9")
        #expect(codec.form == "a whole number from 0 to 9 or null")
    }

    @Test func listsNameTheirElements() throws {
        let codec = ValueCodec<[Color]>.list(of: .word, "a color")
        try expect(#"["red","dark_blue"]"#, codec, reads: [.red, .darkBlue])
        try expect("[]", codec, reads: [])
        try expect("{}", codec, fails: "it must be a list")
        try expect(#"["red","blue"]"#, codec, fails: "a color must be red or dark_blue", at: 2)
    }

    @Test func mappedValuesHaveTheirOwnForm() throws {
        let codec = ValueCodec<String>.text(1...4).mapped(
            "a number of letters x", read: { $0.allSatisfy { $0 == "x" } ? $0.count : nil },
            write: { String(repeating: "x", count: $0) })
        try expect(#""xx""#, codec, reads: 2)
        try expect(#""xy""#, codec, fails: "it must be a number of letters x")
        try expect(#""xxxxx""#, codec, fails: "it must be a text of 1 to 4 bytes")
        let word = ValueCodec<Color>.word.mapped(read: { $0 == .red ? 1 : nil }, write: { _ in .red })
        try expect(#""dark_blue""#, word, fails: "it must be red or dark_blue; did you mean dark_blue?")
    }

    @Test func checkedCodecsAcceptFewerValues() throws {
        let even = ValueCodec<Int>.int(0...9).checked("an even number") { $0 % 2 == 0 }
        try expect("4", even, reads: 4)
        try expect("5", even, fails: "it must be an even number")
    }

    @Test func aShortFormReplacesAnObject() throws {
        let whole = ObjectCodec("a size", from: 0, [.required("width", \.self, .int(0...99))])
        let codec = whole.value.abbreviated(.int(0...9), expand: { $0 }, abbreviate: { $0 < 10 ? $0 : nil })
        try expect("7", codec, reads: 7)
        try expect(#"{"width":7}"#, codec, reads: 7, writes: "7")
        try expect(#"{"width":10}"#, codec, reads: 10)
        try expect("10", codec, fails: "it must be a whole number from 0 to 9")
        try expect(
            #"{"widht":1}"#, codec, fails: "unknown member 'widht' in a size; known: width; did you mean width?", at: 1)
        #expect(codec.form == "a whole number from 0 to 9, or an object")
    }
}

/// Returns the output of `write`.
func json(_ write: (inout JSONWriter) -> Void) -> String {
    var json = JSONWriter()
    write(&json)
    return String(decoding: json.bytes, as: UTF8.self)
}
