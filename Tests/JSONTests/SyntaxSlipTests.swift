import JSON
import Testing

/// Common mistakes, each with a message that names the mistake.
struct SyntaxSlipTests {
    @Test(arguments: [
        ("\u{FEFF}{}", "a byte order mark"), ("[1,]", "a comma before"), (#"{"a":1, }"#, "a comma before"),
        ("{'a':1}", "double quotes"), ("['a']", "double quotes"), ("[1, // one\n2]", "no comments"),
        ("/* x */ []", "no comments"), ("{\"a\":1 # x\n}", "no comments"), ("[NaN]", "no NaN"),
        ("[Infinity]", "no NaN"), ("[-Infinity]", "no NaN"), ("[True]", "true, false and null"),
        (#"{"a":None}"#, "true, false and null"), ("{a:1}", "a key must be a string"), ("[1 2]", "a comma is missing"),
        (#"{"a":1 "b":2}"#, "a comma is missing"), (#"{"a" 1}"#, "a colon is missing"), ("[1,,2]", "two commas"),
        (#"{"a":}"#, "the value is missing"), ("{}\n// end", "no comments"),
    ])
    func everySlipHasAMessage(_ text: String, _ words: String) throws {
        let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
        let message = try #require(error?.message)
        #expect(message.contains(words), "\(message)")
        #expect([.syntax, .number, .trailing].contains(error?.code))
    }

    @Test(
        arguments: [
            [0x1F, 0x8B, 8, 0], [0x78, 0x9C, 0xAB], [0x78, 1], [0x78, 0xDA, 1], [0x28, 0xB5, 0x2F, 0xFD, 4],
        ] as [[UInt8]])
    func compressedTextIsDetected(_ text: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
        #expect(error?.slip == .compressed && error?.position.offset == 0)
        #expect(error?.message == "the text is compressed (gzip, zlib or zstd); write uncompressed text")
    }

    // Some encoders, such as C#'s `Encoding.Unicode.GetBytes`, write no byte order mark.
    @Test(arguments: ["{\"a\":1}", "[1]", "{ }"]) func otherEncodingsAreDetected(_ text: String) {
        for mark in ["", "\u{FEFF}"] {
            let utf16 = Array((mark + text).utf16)
            let utf32 = (mark + text).unicodeScalars.map(\.value)
            func bytes(_ units: [some FixedWidthInteger], isBig: Bool) -> [UInt8] {
                units.flatMap { unit in withUnsafeBytes(of: isBig ? unit.bigEndian : unit.littleEndian) { Array($0) } }
            }
            for isBig in [false, true] {
                let wide = #expect(throws: JSONError.self) { try JSONDocument(bytes(utf16, isBig: isBig)) }
                #expect(wide?.slip == .utf16 && wide?.code == .syntax)
                let wider = #expect(throws: JSONError.self) { try JSONDocument(bytes(utf32, isBig: isBig)) }
                #expect(wider?.slip == .utf32 && wider?.code == .syntax)
            }
        }
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, "/a"), (#"{"x":{"a":[0,{"b":1,"c":{"b":2},"b":3}]}}"#, "/x/a/1/b"),
        (#"[{},[1,2],{"a/b":"\"{","~":[],"a/b":2}]"#, "/2/a~1b"), (#"{ "a" : "a" , "b":1, "a" : 3}"#, "/a"),
        ("{}", nil),
    ])
    func aDuplicateKeyHasAPointer(_ text: String, _ pointer: String?) {
        let bytes = Array(text.utf8)
        do {
            _ = try JSONDocument(bytes)
            #expect(pointer == nil)
        } catch {
            #expect(bytes.withUnsafeBytes { error.duplicateKeyPointer(in: $0) } == pointer)
        }
    }

    @Test(arguments: ["[)]", "{\"a\"}", "[tru]", "@", "[1;2]", "x", "(x"])
    func otherCharactersAreUnexpected(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
        #expect(error?.message == "unexpected character")
    }
}
