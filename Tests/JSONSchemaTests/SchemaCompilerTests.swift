import JSON
import JSONSchema
import Testing

struct SchemaCompilerTests {
    @Test(
        arguments: [
            ("1", .malformed, ""), ("[]", .malformed, ""), (#"{"properties":[]}"#, .malformed, "/properties"),
            (#"{"properties":{"a":1}}"#, .malformed, "/properties/a"), (#"{"type":"text"}"#, .malformed, "/type"),
            (#"{"type":[]}"#, .malformed, "/type"), (#"{"type":["null","x"]}"#, .malformed, "/type/1"),
            (#"{"enum":1}"#, .malformed, "/enum"), (#"{"minLength":-1}"#, .malformed, "/minLength"),
            (#"{"maxItems":1.5}"#, .malformed, "/maxItems"), (#"{"minimum":"1"}"#, .malformed, "/minimum"),
            (#"{"multipleOf":0}"#, .malformed, "/multipleOf"), (#"{"multipleOf":-1}"#, .malformed, "/multipleOf"),
            (#"{"multipleOf":1.234567890123456789}"#, .unsupported, "/multipleOf"),
            (#"{"pattern":1}"#, .malformed, "/pattern"),
            (#"{"required":"a"}"#, .malformed, "/required"), (#"{"required":[1]}"#, .malformed, "/required"),
            (#"{"allOf":[]}"#, .malformed, "/allOf"), (#"{"anyOf":{}}"#, .malformed, "/anyOf"),
            (#"{"not":1}"#, .malformed, "/not"), (#"{"items":[true]}"#, .malformed, "/items"),
            (#"{"dependentRequired":{"a":"b"}}"#, .malformed, "/dependentRequired/a"),
            (#"{"$ref":1}"#, .malformed, "/$ref"),
            (#"{"patternProperties":1}"#, .malformed, "/patternProperties"), (#"{"$defs":[]}"#, .malformed, "/$defs"),
            (#"{"$defs":{"unused":{"type":1}}}"#, .malformed, "/$defs/unused/type"),
            (#"{"$schema":1}"#, .malformed, "/$schema"),
            (#"{"pattern":"("}"#, .pattern, "/pattern"),
            (#"{"patternProperties":{"[":true}}"#, .pattern, "/patternProperties/["),
            (##"{"$ref":"#/$defs/x"}"##, .reference, "/$ref"), (##"{"$ref":"#x"}"##, .reference, "/$ref"),
            (##"{"$ref":"#/%zz"}"##, .reference, "/$ref"), (##"{"$ref":"#"}"##, .reference, ""),
            (##"{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}}"##, .reference, "/properties/a"),
            (#"{"$ref":"other.json"}"#, .missing, "/$ref"),
            (#"{"items":{"$ref":"https://example.com/a#/b"}}"#, .missing, "/items/$ref"),
            (#"{"$id":1}"#, .malformed, "/$id"), (#"{"$id":"a#b"}"#, .malformed, "/$id"),
            (#"{"$anchor":"1 2"}"#, .malformed, "/$anchor"), (#"{"$dynamicAnchor":""}"#, .malformed, "/$dynamicAnchor"),
            (#"{"$anchor":"a","items":{"$anchor":"a"}}"#, .malformed, "/items"),
            (#"{"$id":"http://a/b","items":{"$id":"/b"}}"#, .malformed, "/items"),
            (##"{"$dynamicRef":"#a"}"##, .reference, "/$dynamicRef"),
            (##"{"$ref":"#/%E0%A4%A"}"##, .reference, "/$ref"),
            (#"{"uniqueItems":1}"#, .malformed, "/uniqueItems"), (#"{"contains":1}"#, .malformed, "/contains"),
            (#"{"minContains":-1}"#, .malformed, "/minContains"), (#"{"maxContains":"1"}"#, .malformed, "/maxContains"),
            (#"{"unevaluatedItems":1}"#, .malformed, "/unevaluatedItems"),
            (#"{"unevaluatedProperties":[]}"#, .malformed, "/unevaluatedProperties"),
            (#"{"dependentSchemas":{"a":["b"]}}"#, .malformed, "/dependentSchemas/a"),
            (#"{"dependencies":{"a":1}}"#, .malformed, "/dependencies/a"),
            (#"{"format":1}"#, .malformed, "/format"), (#"{"title":1}"#, .malformed, "/title"),
            (#"{"pattern":"\\a"}"#, .pattern, "/pattern"),
            (#"{"$schema":"https://example.com/unknown"}"#, .unsupported, "/$schema"),
            (
                #"{"$schema":"http://json-schema.org/draft-07/schema#","contentSchema":1,"items":[1]}"#, .malformed,
                "/items/0"
            ),
            (#"{"$schema":"http://json-schema.org/draft-04/schema#"}"#, .unsupported, "/$schema"),
        ] as [(String, SchemaError.Code, String)])
    func refuses(_ text: String, _ code: SchemaError.Code, _ pointer: String) throws {
        let document = try JSONDocument(text)
        let error = try #require(throws: SchemaError.self) { try CompiledSchema(document) }
        #expect(error.code == code)
        #expect(error.pointer == pointer)
    }

    @Test func unknownKeywordsAreTold() throws {
        let schema = try CompiledSchema(
            JSONDocument(#"{"properties":{"a":{"minLenght":3,"x-note":1}},"tpye":"object"}"#))
        #expect(schema.unknownKeywords == ["/tpye", "/properties/a/minLenght", "/properties/a/x-note"])
    }

    /// As many names as do not fit a machine word.
    @Test(arguments: [1, 63, 64, 65, 128, 200])
    func manyNames(_ count: Int) throws {
        let names = (0..<count).map { #""name number \#($0)""# }
        let schema =
            "{\"required\":[\(names.joined(separator: ","))],\"additionalProperties\":false,\"properties\":{"
            + names.map { $0 + #":{"type":"null"}"# }.joined(separator: ",") + "}}"
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        func object(_ names: some Sequence<String>, _ value: String = "null") -> String {
            "{" + names.map { "\($0):\(value)" }.joined(separator: ",") + "}"
        }
        #expect(validator.firstViolation(in: try JSONDocument(object(names)).root) == nil)
        for missing in [0, count / 2, count - 1] {
            let document = try JSONDocument(object(names.enumerated().filter { $0.offset != missing }.map(\.element)))
            #expect(validator.firstViolation(in: document.root)?.message == "lacks the property \(names[missing])")
        }
        #expect(validator.violations(in: try JSONDocument("{}").root, max: 1000).count == count)
        #expect(validator.violations(in: try JSONDocument(object(names, "1")).root, max: 1000).count == count)
        let unknown = try JSONDocument(object(names + [#""other""#])).root
        #expect(validator.firstViolation(in: unknown)?.keyword == "additionalProperties")
    }
}
