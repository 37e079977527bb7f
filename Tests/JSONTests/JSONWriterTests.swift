import JSON
import Testing

struct JSONWriterTests {
    @Test func writesWhatItIsTold() {
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

    @Test func stringsComeBack() throws {
        let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init))) + "\u{2028}😀"
        var json = JSONWriter()
        json.string(text)
        #expect(try JSONDocument(json.bytes).root.string == text)
    }

    @Test func bytesThatAreNotUTF8AreReplaced() throws {
        var json = JSONWriter()
        let bytes: [UInt8] = [0x61, 0xFF, 0x22, 0xED, 0xA0, 0x80]
        bytes.withUnsafeBytes { json.string(utf8: $0) }
        let text = try #require(try JSONDocument(json.bytes).root.string)
        #expect(text.hasPrefix("a\u{FFFD}\"\u{FFFD}"))
    }

    @Test func goesOnInTheSameMemory() {
        var json = JSONWriter(appendingTo: Array("log: ".utf8))
        json.beginArray()
        json.endArray()
        #expect(String(decoding: json.bytes, as: UTF8.self) == "log: []")
        json.removeAll()
        json.bool(true)
        #expect(String(decoding: json.bytes, as: UTF8.self) == "true")
    }
}
