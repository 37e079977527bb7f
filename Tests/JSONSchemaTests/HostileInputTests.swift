import JSON
import JSONSchema
import Testing

/// Values and schemas that are made to cost more than they may.
struct HostileInputTests {
    @Test func patternsThatBacktrackGiveUp() throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(#"{"pattern":"^(a+)+$"}"#)))
        let text = "\"" + String(repeating: "a", count: 30_000) + "!\""
        let violation = try #require(validator.firstViolation(in: try JSONDocument(text).root))
        #expect(violation.keyword == "pattern")
        #expect(violation.message.contains("could not be matched"))
        #expect(validator.firstViolation(in: try JSONDocument(#""aaa""#).root) == nil)
    }

    /// Also below a negation, where "no match" would mean "valid".
    @Test func givingUpIsNeverValid() throws {
        let text = "\"" + String(repeating: "a", count: 30_000) + "!\""
        for schema in [#"{"not":{"pattern":"^(a+)+$"}}"#, #"{"if":{"pattern":"^(a+)+$"},"then":false}"#] {
            let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
            #expect(validator.firstViolation(in: try JSONDocument(text).root)?.keyword == "pattern")
        }
    }

    @Test func longStringsMatchSimplePatterns() throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(#"{"pattern":"^[a-z]+$"}"#)))
        let text = "\"" + String(repeating: "a", count: 900_000) + "\""
        #expect(validator.firstViolation(in: try JSONDocument(text).root) == nil)
    }

    @Test func depthNeedsNoStack() throws {
        let depth = 100_000
        let text = String(repeating: #"{"a":["#, count: depth / 2) + "1" + String(repeating: "]}", count: depth / 2)
        let document = try JSONDocument(text, limits: JSONLimits(depthMax: depth))
        let schema = ##"{"properties":{"a":{"items":{"$ref":"#"}}},"type":["object","string"]}"##
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let violation = try #require(validator.firstViolation(in: document.root))
        #expect(violation.keyword == "type")
        #expect(violation.instancePointer.utf8.count == depth / 2 * 4)
    }

    @Test func workHasALimit() throws {
        let schema =
            ##"{"$defs":{"n":{"items":{"anyOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]},"minItems":1}},"$ref":"#/$defs/n"}"##
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let text = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        #expect(validator.firstViolation(in: try JSONDocument(text).root)?.keyword == "stepsMax")
    }

    /// The same value however it is written, in every size for which there is a way of its own.
    @Test(arguments: ["7", "0.5", "1234567890123456789", "12345678901234567890", "123456789012345678901234567890"])
    func manyElementsAreComparedByValue(_ number: String) throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(#"{"uniqueItems":true}"#)))
        let others = (100..<120).map { #"{"b":[\#($0)],"a":"\#($0)"}"# }.joined(separator: ",")
        let scaled =
            number.contains(".")
            ? "5e-1"
            : String(number.prefix(1)) + "." + number.dropFirst() + "0e+"
                + "\(number.utf8.count - 1)"
        let twice = #"[{"a":\#(number),"b":[null,true]},\#(others),{"b":[null,true],"a":\#(scaled)}]"#
        #expect(validator.firstViolation(in: try JSONDocument(twice).root)?.keyword == "uniqueItems")
        let once = #"[{"a":\#(number),"b":[null,true]},\#(others),{"b":[true,null],"a":\#(scaled)}]"#
        #expect(validator.firstViolation(in: try JSONDocument(once).root) == nil)
    }

    @Test func manyLongKeysAreFoundTwice() throws {
        let keys = (0..<5000).map { "\"a key of more than sixteen bytes \($0) and more\":0,\"k\($0)\":0" }
        let text = "{" + keys.joined(separator: ",")
        #expect(throws: Never.self) { try JSONDocument(text + "}") }
        for key in ["a key of more than sixteen bytes 4711 and more", "k3"] {
            let error = #expect(throws: JSONError.self) { try JSONDocument(text + ",\"\(key)\":1}") }
            #expect(error?.code == .duplicateKey)
        }
    }

    @Test func deeplyNestedSchemasCompile() throws {
        let depth = 5000
        let text =
            String(repeating: #"{"items":"#, count: depth) + #"{"type":"null"}"# + String(repeating: "}", count: depth)
        let document = try JSONDocument(text, limits: JSONLimits(depthMax: depth + 1))
        let validator = SchemaValidator(try CompiledSchema(document))
        let value = String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        let deep = try JSONDocument(value, limits: JSONLimits(depthMax: depth))
        #expect(validator.firstViolation(in: deep.root)?.keyword == "type")
    }

    @Test func validatorsOfOneSchemaWorkSideBySide() async throws {
        let schema = try CompiledSchema(JSONDocument(#"{"properties":{"a":{"pattern":"^[a-z]+$","maxLength":5}}}"#))
        await withTaskGroup(of: Bool.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let parser = JSONParser()
                    let validator = SchemaValidator(schema)
                    return (0..<2000).allSatisfy { round in
                        let isValid = (round + worker) % 3 != 0
                        guard let value = try? parser.parse(Array(#"{"a":"\#(isValid ? "abc" : "ABC")"}"#.utf8)) else {
                            return false
                        }
                        return (validator.firstViolation(in: value) == nil) == isValid
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
