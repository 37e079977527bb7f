import JSON
import Testing

/// Slips that other notations allow get a sentence of their own; their code is that of any wrong character.
struct SyntaxSlipTests {
    @Test(arguments: [
        ("\u{FEFF}{}", "a byte order mark"), ("[1,]", "a comma before"), (#"{"a":1, }"#, "a comma before"),
        ("{'a':1}", "double quotes"), ("['a']", "double quotes"), ("[1, // one\n2]", "no comments"),
        ("/* x */ []", "no comments"), ("{\"a\":1 # x\n}", "no comments"), ("[NaN]", "no NaN"),
        ("[Infinity]", "no NaN"), ("[-Infinity]", "no NaN"), ("[True]", "true, false and null"),
        (#"{"a":None}"#, "true, false and null"), ("{a:1}", "a key is a string"), ("[1 2]", "a comma is missing"),
        (#"{"a":1 "b":2}"#, "a comma is missing"), (#"{"a" 1}"#, "a colon is missing"), ("[1,,2]", "two commas"),
        (#"{"a":}"#, "the value is missing"), ("{}\n// end", "no comments"),
    ])
    func aSlipHasASentence(_ text: String, _ words: String) throws {
        let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
        let message = try #require(error?.message)
        #expect(message.contains(words), "\(message)")
        #expect([.syntax, .number, .trailing].contains(error?.code))
    }

    @Test(
        arguments: [
            [0x1F, 0x8B, 8, 0], [0x78, 0x9C, 0xAB], [0x78, 1], [0x78, 0xDA, 1], [0x28, 0xB5, 0x2F, 0xFD, 4],
        ] as [[UInt8]])
    func aCompressedTextIsKnown(_ text: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
        #expect(error?.slip == .compressed && error?.position.offset == 0)
        #expect(error?.message == "the text is compressed (gzip, zlib or zstd): write it as it is")
    }

    @Test(arguments: ["[)]", "{\"a\"}", "[tru]", "@", "[1;2]", "x", "(x"])
    func otherCharactersCannotStandThere(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
        #expect(error?.message == "this character cannot stand here in JSON")
    }
}
