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
            (##"{"$ref":"#/%zz"}"##, .reference, "/$ref"), (##"{"$ref":"#/a~2","a2":true}"##, .reference, "/$ref"),
            (##"{"$ref":"#"}"##, .reference, ""),
            (##"{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}}"##, .reference, "/properties/a"),
            (#"{"$ref":"other.json"}"#, .missing, "/$ref"),
            (#"{"items":{"$ref":"https://example.com/a#/b"}}"#, .missing, "/items/$ref"),
            (#"{"$id":1}"#, .malformed, "/$id"), (#"{"$id":"a#b"}"#, .malformed, "/$id"),
            (#"{"$anchor":"1 2"}"#, .malformed, "/$anchor"), (#"{"$dynamicAnchor":""}"#, .malformed, "/$dynamicAnchor"),
            (#"{"$anchor":"1a"}"#, .malformed, "/$anchor"), (#"{"$anchor":".a"}"#, .malformed, "/$anchor"),
            (#"{"$anchor":"-a"}"#, .malformed, "/$anchor"), (#"{"$anchor":"a:b"}"#, .malformed, "/$anchor"),
            (#"{"$anchor":"é"}"#, .malformed, "/$anchor"), (#"{"$dynamicAnchor":"1a"}"#, .malformed, "/$dynamicAnchor"),
            (#"{"$schema":"https://json-schema.org/draft/2019-09/schema","$anchor":"_a"}"#, .malformed, "/$anchor"),
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

    @Test func unknownKeywordsAreReported() throws {
        let schema = try CompiledSchema(
            JSONDocument(#"{"properties":{"a":{"minLenght":3,"x-note":1}},"tpye":"object"}"#))
        #expect(schema.unknownKeywords == ["/tpye", "/properties/a/minLenght", "/properties/a/x-note"])
    }

    @Test func unknownKeywordsAreReportedUpToALimit() throws {
        let members = (0..<300).map { #""x-\#($0)":0"# }
        let schema = try CompiledSchema(JSONDocument("{\(members.joined(separator: ","))}"))
        #expect(schema.unknownKeywords == (0..<100).map { "/x-\($0)" })
    }

    @Test(
        arguments: [
            ("2020-12", "_a"), ("2020-12", "a.b-c_1"), ("2020-12", "A"), ("2019-09", "a:b._-1"), ("2019-09", "a"),
        ])
    func anchorsAreNames(_ draft: String, _ name: String) throws {
        let schema = """
            {"$schema":"https://json-schema.org/draft/\(draft)/schema","$ref":"#\(name)",
            "$defs":{"a":{"$anchor":"\(name)","type":"null"}}}
            """
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        #expect(validator.firstViolation(in: try JSONDocument("1").root)?.schemaPointer == "/$defs/a/type")
    }

    /// Covers a few children, and enough children for a lookup table.
    @Test(arguments: [3, 500])
    func pointersResolveToChildren(_ count: Int) throws {
        let names = (0..<count).map { #""d\#($0)":{"const":\#($0)}"# }
        let elements = (0..<count).map { #"{"const":\#($0)}"# }
        let special =
            #""":{"const":"empty"},"a/b":{"const":"slash"},"m~n":{"const":"tilde"},"é":{"const":"one"},"e\u0301":{"const":"two"}"#
        func violation(_ reference: String) throws -> String? {
            let schema = """
                {"$ref":"#\(reference)","x-names":{\(names.joined(separator: ",")),\(special)},
                "x-list":[\(elements.joined(separator: ","))]}
                """
            return SchemaValidator(try CompiledSchema(JSONDocument(schema)))
                .firstViolation(in: try JSONDocument("null").root)?.message
        }
        for (reference, constant) in [
            ("/x-names/d0", "0"), ("/x-names/d\(count - 1)", "\(count - 1)"), ("/x-list/0", "0"),
            ("/x-list/\(count - 1)", "\(count - 1)"), ("/x-names/", #""empty""#), ("/x-names/a~1b", #""slash""#),
            ("/x-names/m~0n", #""tilde""#), ("/x-names/%C3%A9", #""one""#), ("/x-names/e%CC%81", #""two""#),
        ] {
            #expect(try violation(reference) == "must be \(constant)")
        }
        for reference in [
            "/x-names/d\(count)", "/x-names/m~n", "/x-names/a/b", "/x-list/\(count)", "/x-list/01", "/x-list/-",
            "/x-list/-1", "/x-list/", "/x-list/+1", "/x-list/99999999999999999999", "/x-names/d0/const/0",
        ] {
            let error = #expect(throws: SchemaError.self) { try violation(reference) }
            #expect(error?.code == .reference, "\(reference)")
        }
    }

    /// Covers numbers of names below and above the number of bits of a machine word.
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
