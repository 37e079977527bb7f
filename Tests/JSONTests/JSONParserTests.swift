import JSON
import Testing

struct JSONParserTests {
    @Test func errorsHaveAPosition() throws {
        let text = "{\n  \"ä\": 1,\n  \"öö\": tru\n}"
        let error = try #require(throws: JSONError.self) { try JSONDocument(text) }
        #expect(error.code == .syntax)
        #expect(error.position == JSONPosition(offset: 26, line: 3, column: 12))
        #expect(error.description == "3:12: unexpected character")
    }

    @Test func duplicateKeysAreFoundAtTheSecond() throws {
        for count in [2, 9, 16, 17, 1000] {
            let keys = (0..<count).map { #""key number \#($0)":{"x":[\#($0)]}"# }
            #expect(try JSONDocument("{" + keys.joined(separator: ",") + "}").root.count == count)
            let text = "{" + (keys + [keys[count / 2]]).joined(separator: ",") + "}"
            let error = try #require(throws: JSONError.self) { try JSONDocument(text) }
            #expect(error.code == .duplicateKey)
            #expect(error.position.offset == text.utf8.count - keys[count / 2].utf8.count - 1)
        }
    }

    @Test func depthHasALimit() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSONDocument(nested(128)).root.kind == .array)
        let error = try #require(throws: JSONError.self) { try JSONDocument(nested(129)) }
        #expect(error.code == .depth)
        #expect(error.position.offset == 128)
        #expect(try JSONDocument(nested(10_000), limits: JSONLimits(depthMax: 10_000)).root.count == 1)
        #expect(throws: JSONError.self) { try JSONDocument("[]", limits: JSONLimits(depthMax: 0)) }
        let open = String(repeating: #"{"a":"#, count: 100_000)
        #expect(try #require(throws: JSONError.self) { try JSONDocument(open) }.code == .depth)
    }

    @Test func sizeHasALimit() throws {
        let limits = JSONLimits(bytesMax: 4)
        #expect(try JSONDocument("1234", limits: limits).root.int == 1234)
        let error = try #require(throws: JSONError.self) { try JSONDocument("12345", limits: limits) }
        #expect(error.code == .size)
        #expect(error.position.offset == 4)
    }

    /// The texts contain as many values as their bytes allow.
    @Test func denseTextsFitTheTape() throws {
        let parser = JSONParser(limits: JSONLimits(depthMax: 1000))
        for count in 1...200 {
            let flat = "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]"
            #expect(try parser.parse(Array(flat.utf8)).count == count)
            let empty = "[" + Array(repeating: "[]", count: count).joined(separator: ",") + "]"
            #expect(try parser.parse(Array(empty.utf8)).count == count)
            let deep = String(repeating: "[1,", count: count) + "1" + String(repeating: "]", count: count)
            #expect(try parser.parse(Array(deep.utf8)).count == 2)
            #expect(throws: JSONError.self) { try parser.parse(Array(String(repeating: "[", count: count).utf8)) }
        }
    }

    @Test func oneParserReadsManyTexts() throws {
        let parser = JSONParser()
        #expect(try parser.parse(Array(#"{"a":"first"}"#.utf8))["a"]?.string == "first")
        #expect(throws: JSONError.self) { try parser.parse(Array("{".utf8)) }
        let large = "[" + Array(repeating: #""\n""#, count: 100_000).joined(separator: ",") + "]"
        #expect(try parser.parse(Array(large.utf8)).elements.allSatisfy { $0.string == "\n" })
        #expect(try parser.parse(Array(#"{"a":"last"}"#.utf8))["a"]?.string == "last")
    }

    @Test func aValueOfThePreviousTextTraps() async {
        await #expect(processExitsWith: .failure) {
            let parser = JSONParser()
            let value = try parser.parse(Array("1".utf8))
            _ = try parser.parse(Array("2".utf8))
            _ = value.int
        }
    }
}
