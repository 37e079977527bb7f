import JSON
import Testing

@testable import JSONSchema

/// The limits of the fast path. Beyond these limits, the validator's main loop decides.
struct FastPathTests {
    @Test func deepSchemasUseTheLoop() throws {
        for depth in [40, 100] {
            let schema = (0..<depth).reduce(#"{"type":"integer"}"#) { inner, _ in #"{"allOf":[\#(inner)]}"# }
            let validator = try validator(schema)
            #expect(try validator.isPlainlyValid(value("1")) == (depth == 40))
            #expect(try validator.firstViolation(in: value("1")) == nil)
            #expect(try validator.firstViolation(in: value(#""a""#))?.keyword == "type")
        }
    }

    // Below a negation, a fast path that gives up must not count as "no match".
    @Test func givingUpBelowANegationDecidesNothing() throws {
        let schema = (0..<100).reduce(#"{"type":"integer"}"#) { inner, _ in #"{"allOf":[\#(inner)]}"# }
        let validator = try validator(#"{"not":\#(schema)}"#)
        #expect(try validator.firstViolation(in: value("1"))?.keyword == "not")
        #expect(try validator.firstViolation(in: value(#""a""#)) == nil)
    }

    @Test func longValuesUseTheLoop() throws {
        let validator = try validator(#"{"items":{"type":"integer"}}"#)
        for count in [100, 100_000] {
            let numbers = "[" + Array(repeating: "1", count: count).joined(separator: ",")
            #expect(try validator.isPlainlyValid(value(numbers + "]")) == (count == 100))
            #expect(try validator.firstViolation(in: value(numbers + "]")) == nil)
            #expect(try validator.firstViolation(in: value(numbers + ",null]"))?.keyword == "type")
        }
    }

    @Test(arguments: [
        #"{"contains":{"const":1}}"#, #"{"dependentSchemas":{"a":{"required":["b"]}}}"#,
        #"{"patternProperties":{"^a":false}}"#, #"{"propertyNames":{"maxLength":1}}"#,
        #"{"unevaluatedProperties":false}"#, #"{"unevaluatedItems":false}"#,
        ##"{"$dynamicRef":"#a","$defs":{"b":{"$dynamicAnchor":"a"}}}"##,
    ])
    func someSchemasAlwaysUseTheLoop(_ schema: String) throws {
        #expect(try !validator(schema).isPlainlyValid(value("{}")))
        #expect(try validator(schema).firstViolation(in: value("{}")) == nil)
    }

    private func validator(_ schema: String) throws -> SchemaValidator {
        SchemaValidator(try CompiledSchema(JSONDocument(Array(schema.utf8), limits: JSONLimits(depthMax: 512))))
    }

    private func value(_ text: String) throws -> JSONValue {
        try JSONDocument(Array(text.utf8), limits: JSONLimits(bytesMax: 1 << 20)).root
    }
}
