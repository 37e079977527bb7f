import JSON
import Testing

/// Documents that RFC 8259 accepts or rejects, and documents that Martlet rejects in addition.
struct JSONConformanceTests {
    @Test(arguments: [
        "null", "true", "false", " \t\r\n1 \t\r\n", "0", "-0", "-1", "0.0", "-0.0e-0", "1e5", "1E+5", "1.25e-3",
        "123456789012345678901234567890", "1e400", "1e999999999", "\"\"", "\"a\"", "[]", "{}", "[ ]", "{ }",
        "[[],{}]", "[1,2,3]", "[1 , 2]", #"{"":0}"#, #"{"a":{"a":{"a":[]}}}"#, #"{"a":1,"b":1,"A":1}"#,
        #""\"\\\/\b\f\n\r\t""#, #""\u0000\u0041\u00e9\u20AC\uD83D\uDE00\uDBFF\uDFFF""#,
        "\"\u{7F}\u{80}\u{7FF}\u{800}\"",
        "\"\u{D7FF}\u{E000}\u{FFFD}\u{FFFF}\u{10000}\u{10FFFF}\"", "\"\u{FEFF}\"", "\"\u{2028}\"",
    ])
    func accepts(_ text: String) throws {
        let document = try JSONDocument(text)
        let written = document.root.sourceBytes
        #expect(String(decoding: written, as: UTF8.self) == text.trimmed)
    }

    @Test(
        arguments: [
            ("", .empty), (" \n ", .empty),
            ("[", .truncated), ("{", .truncated), ("\"", .truncated), ("\"a", .truncated), (#""\"#, .truncated),
            (#""\u"#, .truncated), (#""\u12"#, .truncated), (#""\uD83D"#, .truncated), (#""\uD83D\"#, .truncated),
            (#""\uD83D\u"#, .truncated), (#""\uD83D\uDE0"#, .truncated), ("-", .truncated), ("1.", .truncated),
            ("1e", .truncated), ("1e+", .truncated), ("t", .truncated), ("nul", .truncated), ("[1", .truncated),
            ("[1,", .truncated), ("{\"a\"", .truncated), ("{\"a\":", .truncated), ("{\"a\":1", .truncated),
            ("{\"a\":1,", .truncated),
            ("[1,]", .syntax), ("[,1]", .syntax), ("[1 2]", .syntax), ("[1}", .syntax), ("{\"a\":1]", .syntax),
            ("{,}", .syntax), ("{\"a\":1,}", .syntax), ("{\"a\" 1}", .syntax), ("{\"a\":}", .syntax),
            ("{a:1}", .syntax),
            ("{1:1}", .syntax), ("{'a':1}", .syntax), ("'a'", .syntax), ("tru", .truncated), ("trux", .syntax),
            ("True", .syntax), ("nulL", .syntax), ("NaN", .syntax), ("Infinity", .syntax), ("undefined", .syntax),
            ("/* c */ 1", .syntax), ("[1 // c\n]", .syntax), ("]", .syntax), ("}", .syntax), (",", .syntax),
            (":", .syntax),
            ("\u{FEFF}1", .syntax), ("\u{A0}1", .syntax), ("\u{0B}1", .syntax), ("\u{0C}1", .syntax), ("+1", .syntax),
            (".5", .syntax), ("\0", .syntax), ("[\0]", .syntax), ("[1\0]", .syntax),
            ("01", .number), ("-01", .number), ("00", .number), ("1.e5", .number), ("1.x", .number), ("-x", .number),
            ("- 1", .number), ("1ee5", .number), ("1e5.5", .number), ("0x10", .number), ("1_000", .trailing),
            ("1a", .number), ("--1", .number), ("1.2.3", .number), ("-Infinity", .number), ("[1-2]", .number),
            (#""\x""#, .escape), (#""\a""#, .escape), (#""\'""#, .escape), (#""\u12G4""#, .escape),
            (#""\U0041""#, .escape),
            (#""\u 041""#, .escape), (#""\u+041""#, .escape), ("\"\\\n\"", .escape),
            (#""\uD800""#, .surrogate), (#""\uDC00""#, .surrogate), (#""\uD800x""#, .surrogate),
            (#""\uD800\n""#, .surrogate),
            (#""\uD800\uD800""#, .surrogate), (#""\uD800\u0041""#, .surrogate), (#""\uDE00\uD83D""#, .surrogate),
            ("\"\n\"", .controlCharacter), ("\"\t\"", .controlCharacter), ("\"\0\"", .controlCharacter),
            ("\"a\\n\u{1F}\"", .controlCharacter),
            (#"{"a":1,"a":1}"#, .duplicateKey), (#"{"a":1,"\u0061":1}"#, .duplicateKey),
            (#"{"":1,"":1}"#, .duplicateKey),
            (#"[{"b":{"a":1,"c":[{"x":1}],"a":2}}]"#, .duplicateKey),
            ("1 1", .trailing), ("null,", .trailing), ("{}{}", .trailing), ("[]]", .trailing), ("\"a\"\"", .trailing),
            ("1\0", .trailing),
        ] as [(String, JSONError.Code)])
    func refuses(_ text: String, _ code: JSONError.Code) {
        #expect(code == self.code(refusing: Array(text.utf8)))
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF0, 0x9F, 0x98, 0x41], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func refusesWhatIsNotUTF8(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        for lead in ["", "x", "0123456", "01234567", "é", "\\n"] {
            let text = [quote] + Array(lead.utf8) + bytes + [quote]
            #expect(code(refusing: text) == .utf8)
            #expect(offset(refusing: text) == 1 + lead.utf8.count)
        }
        #expect(code(refusing: [quote, 0xF0, 0x9F, 0x98]) == .truncated)
    }

    /// Every prefix that ends within the object is an error, and no changed byte crashes the parser.
    @Test func survivesCutsAndChanges() throws {
        let text = Array(#"{"a":[1.5e3,"\uD83D\uDE00é",true,null,{"b":{}}],"c":"\\"} "#.utf8)
        let parser = JSONParser()
        for end in 0..<text.count - 1 {
            #expect(code(refusing: Array(text[..<end])) == (end == 0 ? .empty : .truncated))
        }
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                _ = try? parser.parse(changed)
            }
        }
        #expect(try parser.parse(text).count == 2)
    }

    private func failure(_ text: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONDocument(text)
            return nil
        } catch {
            return error
        }
    }

    private func code(refusing text: [UInt8]) -> JSONError.Code? { failure(text)?.code }
    private func offset(refusing text: [UInt8]) -> Int? { failure(text)?.position.offset }
}

extension String {
    fileprivate var trimmed: String {
        let space: Set<Unicode.Scalar> = [" ", "\t", "\r", "\n"]
        var scalars = Array(unicodeScalars)
        while let last = scalars.last, space.contains(last) { scalars.removeLast() }
        return String(String.UnicodeScalarView(scalars.drop { space.contains($0) }))
    }
}
