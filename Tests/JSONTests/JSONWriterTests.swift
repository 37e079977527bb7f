import JSON
import Testing

struct JSONWriterTests {
    @Test func writesCommasAndNesting() {
        var json = JSONWriter()
        json.beginObject()
        json.member("outcome", "accepted")
        json.member("status", 200)
        json.member("duplicate", false)
        json.key("list")
        json.beginArray()
        json.int(.min)
        json.int(.max)
        json.double(0.1)
        json.double(.nan)
        json.null()
        json.beginObject()
        json.endObject()
        json.raw(Array(#"{"a": 1}"#.utf8))
        json.endArray()
        json.key("k\"ey")
        json.string("")
        json.endObject()
        let text =
            #"{"outcome":"accepted","status":200,"duplicate":false,"list":[-9223372036854775808,9223372036854775807,"#
            + #"0.1,null,null,{},{"a": 1}],"k\"ey":""}"#
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }

    @Test func wholeNumbersHaveTheirDigits() {
        var numbers: [Int64] = [0, .min, .max]
        var power: Int64 = 1
        for _ in 0..<18 {
            numbers += [power - 1, power, power + 1, -power, 1 - power]
            power *= 10
        }
        var json = JSONWriter()
        json.beginArray()
        for number in numbers { json.int(number) }
        json.endArray()
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == "[" + numbers.map(String.init).joined(separator: ",") + "]")
    }

    @Test func stringsAreReadBack() throws {
        let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init))) + "\u{2028}😀"
        var json = JSONWriter()
        json.string(text)
        #expect(try JSONDocument(json.bytes).root.string == text)
    }

    // Foreign text may reach terminals through pipes, without further filtering.
    @Test func `Control and format characters are escaped`() throws {
        let text = "a\u{7F}b\u{80}c\u{9B}31md\u{AD}e\u{61C}f\u{202E}g\u{2066}h\u{200D}i\u{FEFF}j\u{E0001}kü\u{1F426}€"
        let escaped =
            #""a\u007fb\u0080c\u009b31md\u00ade\u061cf\u202eg\u2066h\u200di\ufeffj\udb40\udc01kü🐦€""#
        var strings = JSONWriter()
        strings.string(text)
        #expect(String(decoding: strings.bytes, as: UTF8.self) == escaped)
        #expect(try JSONDocument(strings.bytes).root.string == text)
        var bytes = JSONWriter()
        Array(text.utf8).withUnsafeBytes { bytes.string(utf8: $0) }
        #expect(bytes.bytes == strings.bytes)
        var keys = JSONWriter()
        keys.key(text)
        #expect(String(decoding: keys.bytes, as: UTF8.self) == escaped + ":")
    }

    @Test func `Every control and format character is escaped at every position`() throws {
        for value in 0...0x10FFFF {
            guard let scalar = Unicode.Scalar(value),
                [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
            else { continue }
            for before in 0...8 {
                let text = String(repeating: "x", count: before) + String(scalar) + "xxxxxxxx"
                var json = JSONWriter()
                json.string(text)
                #expect(json.bytes.allSatisfy { 0x20..<0x7F ~= $0 })
                #expect(try JSONDocument(json.bytes).root.string == text)
            }
        }
    }

    @Test func `A raw value may have its control and format characters escaped`() throws {
        let raw = "{ \"k\u{202E}\" :\t[\"\\\"\\u009b\u{9B}\u{7F}ü\", 1]}"
        var json = JSONWriter()
        json.raw(escaping: Array(raw.utf8))
        #expect(String(decoding: json.bytes, as: UTF8.self) == "{ \"k\\u202e\" :\t[\"\\\"\\u009b\\u009b\\u007fü\", 1]}")
        var untouched = JSONWriter()
        untouched.raw(Array(raw.utf8))
        #expect(untouched.bytes == Array(raw.utf8))
    }

    @Test func bytesThatAreNotUTF8AreReplaced() throws {
        var json = JSONWriter()
        let bytes: [UInt8] = [0x61, 0xFF, 0x22, 0xED, 0xA0, 0x80]
        bytes.withUnsafeBytes { json.string(utf8: $0) }
        let text = try #require(try JSONDocument(json.bytes).root.string)
        #expect(text.hasPrefix("a\u{FFFD}\"\u{FFFD}"))
    }

    @Test func reusesItsMemory() {
        var json = JSONWriter(appendingTo: Array("log: ".utf8))
        json.beginArray()
        json.endArray()
        #expect(String(decoding: json.bytes, as: UTF8.self) == "log: []")
        json.removeAll()
        json.bool(true)
        #expect(String(decoding: json.bytes, as: UTF8.self) == "true")
    }
}
