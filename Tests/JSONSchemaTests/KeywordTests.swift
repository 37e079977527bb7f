import JSON
import JSONSchema
import Testing

struct KeywordTests {
    @Test(arguments: assertionCases + applicatorCases)
    func keyword(_ test: KeywordCase) throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(test.schema)))
        for text in test.valid {
            let value = try JSONDocument(text).root
            #expect(validator.firstViolation(in: value) == nil, "\(text)")
            #expect(validator.violations(in: value).isEmpty, "\(text)")
        }
        for (text, keyword, pointer) in test.invalid {
            let document = try JSONDocument(text)
            let first = try #require(validator.firstViolation(in: document.root), "\(text) is valid")
            #expect(first.keyword == keyword, "\(text)")
            #expect(first.instancePointer == pointer, "\(text)")
            let schema = try JSONDocument(test.schema)
            #expect(schema.root.at(pointer: first.schemaPointer) != nil, "\(first.schemaPointer)")
            #expect(validator.violations(in: document.root).contains(first), "\(text)")
            #expect(validator.violations(in: document.root, max: 1) == [first], "\(text)")
        }
    }

    /// All missing names are reported, in the schema's order.
    @Test func everyMissingNameIsReported() throws {
        let names = (0..<200).map { #""n\#($0)""# }
        let list = names.joined(separator: ",")
        let schema = try CompiledSchema(JSONDocument(#"{"required":[\#(list)],"dependentRequired":{"n7":[\#(list)]}}"#))
        let validator = SchemaValidator(schema)
        func text(without missing: Set<Int>) -> String {
            "{\(names.indices.filter { !missing.contains($0) }.map { "\(names[$0]):1" }.joined(separator: ","))}"
        }
        #expect(validator.firstViolation(in: try JSONDocument(text(without: [])).root) == nil)
        let violations = validator.violations(in: try JSONDocument(text(without: [3, 64, 199])).root)
        #expect(
            violations.map(\.message)
                == ["n3", "n64", "n199"].map { #"lacks the property "\#($0)""# }
                + ["n3", "n64", "n199"].map { #"lacks the property "\#($0)", which "n7" needs"# })
        let without7 = validator.violations(in: try JSONDocument(text(without: [7])).root)
        #expect(without7.map(\.message) == [#"lacks the property "n7""#])
    }

    /// A schema has the same verdicts inside a reference and inside applicators such as `allOf` and `items`.
    @Test(arguments: assertionCases + applicatorCases)
    func keywordBelowOthers(_ test: KeywordCase) throws {
        let wrapped = [
            (##"{"$ref":"#/$defs/it","$defs":{"it":\##(test.schema)}}"##, "%"),
            (#"{"allOf":[\#(test.schema)]}"#, "%"), (#"{"anyOf":[false,\#(test.schema)]}"#, "%"),
            (#"{"oneOf":[\#(test.schema),false]}"#, "%"), (#"{"not":{"not":\#(test.schema)}}"#, "%"),
            (#"{"if":\#(test.schema),"else":false}"#, "%"), (#"{"if":true,"then":\#(test.schema)}"#, "%"),
            (
                #"{"items":{"properties":{"a":\#(test.schema)},"additionalProperties":\#(test.schema)}}"#,
                #"[{"b":%,"a":%}]"#
            ),
            (#"{"prefixItems":[true,\#(test.schema)]}"#, "[0,%]"),
            (#"{"patternProperties":{"^p":\#(test.schema)}}"#, #"{"p":%}"#),
        ]
        for (schema, template) in wrapped where !test.schema.contains("\"#") && !test.schema.contains("$id") {
            let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
            for (text, isValid) in test.valid.map({ ($0, true) }) + test.invalid.map({ ($0.value, false) }) {
                let document = try JSONDocument(
                    template.split(separator: "%", omittingEmptySubsequences: false).joined(separator: text))
                #expect((validator.firstViolation(in: document.root) == nil) == isValid, "\(schema) \(text)")
                #expect(validator.violations(in: document.root).isEmpty == isValid, "\(schema) \(text)")
            }
        }
    }
}
