import JSON
import JSONSchema
import Testing

struct ViolationTests {
    @Test(arguments: [
        (#"{"type":["integer","null"]}"#, #""x""#, "must be a whole number or null"),
        (#"{"type":"object"}"#, "1", "must be an object"),
        (#"{"enum":[1,"a",null]}"#, "2", #"must be one of 1, "a", null"#),
        (#"{"const":"a"}"#, "2", #"must be "a""#),
        (#"{"minimum":1.50}"#, "1", "must be at least 1.50"),
        (#"{"maxLength":1}"#, #""secret""#, "must have at most 1 character"),
        (#"{"minItems":2}"#, "[]", "must have at least 2 elements"),
        (#"{"pattern":"^a$"}"#, #""secret""#, #"must match the regular expression "^a$""#),
        (#"{"required":["a"]}"#, "{}", #"lacks the property "a""#),
        (#"{"dependentRequired":{"a":["b"]}}"#, #"{"a":1}"#, #"lacks the property "b", which "a" needs"#),
        (#"{"oneOf":[{"required":["a"]},{"required":["b"]}]}"#, "{}", #"must have exactly one of "a", "b""#),
        (#"{"anyOf":[{"required":["a"]},{"required":["b"]}]}"#, "{}", #"must have at least one of "a", "b""#),
        (#"{"anyOf":[{"type":"null"}]}"#, "1", "must be null"),
        ("false", "1", "is not allowed here"),
    ])
    func messages(_ schema: String, _ text: String, _ message: String) throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let violation = try #require(validator.firstViolation(in: try JSONDocument(text).root))
        #expect(violation.message == message)
        #expect(violation.description == "The value \(message).")
    }

    @Test(arguments: [
        ("deviceToken", "device_token"), ("device-token", "device_token"), ("Priority", "priority"),
        ("priorty", "priority"), ("prioirty", "priority"), ("devicetokens", "device_token"), ("pri", nil), ("x", nil),
        (String(repeating: "priority", count: 1000), nil),
    ])
    func unknownPropertiesHaveASuggestion(_ name: String, _ meant: String?) throws {
        let schema =
            #"{"properties":{"device_token":true,"priority":true,"payload":true},"additionalProperties":false}"#
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let document = try JSONDocument("{\n  \"\(name)\": 1}")
        let violation = try #require(validator.firstViolation(in: document.root))
        #expect(violation.suggestion == meant)
        #expect(violation.message == "is not a known property" + (meant.map { " (did you mean \"\($0)\"?)" } ?? ""))
        #expect(document.position(ofNode: violation.nodeIndex).line == 2)
    }

    @Test(arguments: [
        (#"{"enum":["production","sandbox"]}"#, #""Production""#, "production", #""production""#),
        (#"{"enum":["production","sandbox"]}"#, #""sandbux""#, "sandbox", #""sandbox""#),
        (#"{"enum":["production","sandbox"]}"#, #""prod""#, "production", #""production""#),
        (#"{"enum":["warning","error"]}"#, #""warn""#, "warning", #""warning""#),
        (#"{"enum":["pushtotalk","push"]}"#, #""pusht""#, "push", #""push""#),
        (#"{"enum":[10,5,1]}"#, #""10""#, "10", "10"), (#"{"enum":[null]}"#, #""null""#, "null", "null"),
        (#"{"type":"boolean"}"#, #""yes""#, "true", "true"),
        (#"{"type":["boolean","null"]}"#, #""Off""#, "false", "false"),
        (#"{"type":"boolean"}"#, #""true""#, "true", "true"),
    ])
    func wrongWordsHaveASuggestion(_ schema: String, _ text: String, _ meant: String, _ shown: String) throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let violation = try #require(validator.firstViolation(in: try JSONDocument(text).root))
        #expect(violation.suggestion == meant)
        #expect(violation.message.hasSuffix(" (did you mean \(shown)?)"), "\(violation.message)")
    }

    @Test(arguments: [
        (#"{"enum":["production","sandbox"]}"#, #""pr""#), (#"{"enum":["production","sandbox"]}"#, "1"),
        (#"{"enum":["sandbox","sandwich"]}"#, #""sand""#), (#"{"type":"boolean"}"#, #""maybe""#),
        (#"{"type":"boolean"}"#, "1"), (#"{"type":"string"}"#, "true"), (#"{"enum":[10,5,1]}"#, "11"),
        (#"{"enum":["production"]}"#, "\"\(String(repeating: "production", count: 1000))\""),
    ])
    func otherValuesHaveNoSuggestion(_ schema: String, _ text: String) throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let violation = try #require(validator.firstViolation(in: try JSONDocument(text).root))
        #expect(violation.suggestion == nil && !violation.message.contains("did you mean"))
    }

    @Test func allViolationsAreReported() throws {
        let schema = #"""
            {"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"c":{"minLength":5,"pattern":"^x"},
             "d":{"items":{"type":"null"}}},"additionalProperties":false}
            """#
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let document = try JSONDocument(#"{"a":1,"c":"abc","d":[1,null,2],"e":5}"#)
        let locations = validator.violations(in: document.root).map { "\($0.instancePointer) \($0.schemaPointer)" }
        #expect(
            locations == [
                "/a /properties/a/type", "/c /properties/c/minLength", "/c /properties/c/pattern",
                "/d/0 /properties/d/items/type", "/d/2 /properties/d/items/type", "/e /additionalProperties",
                " /required",
            ])
        #expect(validator.violations(in: document.root, max: 3).count == 3)
    }
}
