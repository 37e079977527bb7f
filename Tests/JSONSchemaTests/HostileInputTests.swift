import JSON
import JSONSchema
import Testing

/// Values and schemas that are large, or that are made to exceed the limits.
struct HostileInputTests {
    @Test func backtrackingPatternsGiveUp() throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(#"{"pattern":"^(?=a)(a+)+$"}"#)))
        let text = "\"" + String(repeating: "a", count: 30_000) + "!\""
        let violation = try #require(validator.firstViolation(in: try JSONDocument(text).root))
        #expect(violation.keyword == "pattern")
        #expect(violation.message.contains("exceeds the limit for pattern matching"))
        #expect(validator.firstViolation(in: try JSONDocument(#""aaa""#).root) == nil)
    }

    // Below a negation or in `if`, "no match" would mean "valid".
    @Test func givingUpIsNeverValid() throws {
        let text = "\"" + String(repeating: "a", count: 30_000) + "!\""
        for schema in [#"{"not":{"pattern":"^(?=a)(a+)+$"}}"#, #"{"if":{"pattern":"^(?=a)(a+)+$"},"then":false}"#] {
            let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
            #expect(validator.firstViolation(in: try JSONDocument(text).root)?.keyword == "pattern")
        }
    }

    @Test(arguments: [
        #"{"patternProperties":{"^(?=a)(a+)+$":true}}"#, #"{"not":{"patternProperties":{"^(?=a)(a+)+$":false}}}"#,
    ])
    func givingUpOnANameIsNeverValid(_ schema: String) throws {
        let text = "{\"" + String(repeating: "a", count: 30_000) + "!\":1}"
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let violation = try #require(validator.firstViolation(in: try JSONDocument(text).root))
        #expect(violation.message.contains("exceeds the limit for pattern matching"))
    }

    /// The target of a dynamic reference is known only while a value is validated.
    @Test(arguments: [
        ##"{"$dynamicAnchor":"a","$dynamicRef":"#a"}"##, ##"{"$dynamicAnchor":"a","not":{"$dynamicRef":"#a"}}"##,
        ##"{"$dynamicAnchor":"a","type":"array","anyOf":[{"items":{"$dynamicRef":"#a"}},{"$dynamicRef":"#a"}]}"##,
    ])
    func dynamicReferencesToThemselvesEnd(_ schema: String) throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let violation = try #require(validator.firstViolation(in: try JSONDocument("[1]").root))
        #expect(violation.keyword == "$dynamicRef")
        #expect(violation.message.contains("the schema refers to itself"))
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
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)), stepsPerValue: 8)
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

    private static func object(_ count: Int) -> String {
        "{" + (0..<count).map { #""k\#($0)":0"# }.joined(separator: ",") + "}"
    }

    private static func array(_ count: Int) -> String {
        "[" + (0..<count).map(String.init).joined(separator: ",") + "]"
    }

    private static let expensive: [(schema: String, value: String)] = [
        (#"{"required":["absent"]}"#, object(500)),
        (#"{"dependentRequired":{"k1":["absent"],"a":["b"]}}"#, object(500)),
        (#"{"not":{"dependentSchemas":{"a":false}}}"#, object(500)),
        (#"{"not":{"patternProperties":{"^a":false}}}"#, object(500)),
        (#"{"not":{"uniqueItems":true}}"#, array(500)),
        (#"{"not":{"contains":true}}"#, array(500)),
        (#"{"not":{"const":\#(array(500))}}"#, array(500)),
        (#"{"enum":[\#((0..<100).map { "[\($0)]" }.joined(separator: ","))]}"#, "[100]"),
        (#"{"minLength":9000}"#, "\"" + String(repeating: "é", count: 8000) + "\""),
        (#"{"format":"uri"}"#, "\"" + String(repeating: "x", count: 8000) + "\""),
        (#"{"multipleOf":7}"#, "1" + String(repeating: "0", count: 2000)),
    ]

    /// Scanned values also count as work. Each of these schemas would scan a value 4,096 times.
    @Test(arguments: expensive)
    func workCountsScannedValues(_ innermost: String, _ text: String) throws {
        let levels = (0..<12).map {
            ##""n\##($0 + 1)":{"anyOf":[{"$ref":"#/$defs/n\##($0)"},{"$ref":"#/$defs/n\##($0)"}]}"##
        }
        let schema = ##"{"$ref":"#/$defs/n12","$defs":{"n0":\##(innermost),\##(levels.joined(separator: ","))}}"##
        let validator = SchemaValidator(
            try CompiledSchema(JSONDocument(schema), options: SchemaOptions(assertsFormat: true)))
        let document = try JSONDocument(text)
        #expect(validator.firstViolation(in: document.root)?.keyword == "stepsMax")
        #expect(validator.violations(in: document.root).map(\.keyword) == ["stepsMax"])
        let once = SchemaValidator(try CompiledSchema(JSONDocument(innermost)))
        #expect(once.firstViolation(in: document.root)?.keyword != "stepsMax")
    }

    /// The array has about as many values as the largest request can contain.
    @Test func largeValuesAreChecked() throws {
        let schema = #"{"items":{"type":"integer","minimum":0,"maximum":9}}"#
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let text = "[" + String(repeating: "0,", count: 520_000) + "1]"
        #expect(validator.firstViolation(in: try JSONDocument(text).root) == nil)
    }

    /// Finds elements that are equal in different notations. Each number has a size with its own code path.
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

    @Test func exponentsOfAnySizeAreDistinguished() throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(#"{"uniqueItems":true}"#)))
        let numbers = (0..<50).map { "1e\(100_000_000_000_000_000 + $0)000" }
        #expect(validator.firstViolation(in: try JSONDocument("[\(numbers.joined(separator: ","))]").root) == nil)
        let twice = numbers + ["100e99999999999999999998", "1e100000000000000000000"]
        let violation = validator.firstViolation(in: try JSONDocument("[\(twice.joined(separator: ","))]").root)
        #expect(violation?.keyword == "uniqueItems")
    }

    /// A value is not read after the parser has parsed another text into the same memory.
    @Test func valuesOfAnEarlierTextAreRefused() async {
        await #expect(processExitsWith: .failure) {
            let parser = JSONParser()
            let validator = SchemaValidator(try CompiledSchema(JSONDocument(#"{"type":"null"}"#)))
            let earlier = try parser.parse(Array("[null]".utf8))
            _ = try parser.parse(Array("null".utf8))
            _ = validator.firstViolation(in: earlier)
        }
    }

    @Test func duplicatesAmongManyLongKeysAreFound() throws {
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

    @Test func validatorsOfOneSchemaWorkInParallel() async throws {
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
