import JSON
import JSONSchema
import TestKit
import Testing

/// Violation messages for developers of producers, and the limits of the search for a violation's reason.
struct ViolationSentenceTests {
    private static let text = ##"""
        {"anyOf":[{"type":"string"},{"$ref":"#/$defs/o"}],"$defs":{"o":{"type":"object","required":["id"],"properties":
        {"id":{"type":["integer","null"]},"parts":{"oneOf":[{"type":"array","items":{"type":"string"}},{"const":false}]}}}}}
        """##

    @Test(arguments: [
        (text, "5", #"anyOf The value must be a string or an object."#),
        (text, #"{"id":"x"}"#, "type /id must be a whole number or null."),
        (text, #"{}"#, #"required The value lacks the property "id"."#),
        (text, #"{"id":1,"parts":["a",1]}"#, "type /parts/1 must be a string."),
        (text, #"{"id":1,"parts":{}}"#, "oneOf /parts must be a boolean or an array."),
        (
            #"{"anyOf":[{"enum":[1,"a"]},{"type":["boolean","null"]}]}"#, "[]",
            "anyOf The value must be a string, a number, a boolean or null."
        ),
        (#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, "1.5", "type The value must be a whole number."),
        (
            #"{"oneOf":[{"title":"A","required":["x"]},{"title":"B","properties":{"y":false}}]}"#, #"{"y":1}"#,
            #"oneOf The value must match exactly one of the schema's alternatives ("A", "B")."#
        ),
        (
            #"{"anyOf":[{"minimum":5},{"maximum":1}]}"#, "3",
            "anyOf The value must be at least 5, or must be at most 1."
        ),
        (
            #"{"oneOf":[{"minimum":2},{"title":"B","maximum":5},{"const":9}]}"#, "3",
            "oneOf The value matches more than one of the schema's alternatives, where exactly one must hold."
        ),
        (
            #"{"oneOf":[{"const":1,"title":"One"},{"const":"b","description":"Two"},{"const":null}]}"#, "3",
            #"oneOf The value must be one of 1, "b", null."#
        ),
    ])
    func fittingAlternativeIsDescribed(_ schema: String, _ value: String, _ sentence: String) throws {
        #expect(try sentences(schema, value) == [sentence])
    }

    @Test func taggedAlternativeIsDescribed() throws {
        let schema = #"""
            {"oneOf":[{"properties":{"kind":{"const":"a"},"size":{"type":"integer"}},"required":["kind","size"]},
                      {"properties":{"kind":{"enum":["b","c"]},"size":{"type":"string"}},"required":["kind"]}]}
            """#
        #expect(
            try sentences(schema, #"{"size":true,"kind":"c"}"#) == ["type /size must be a string."])
        #expect(try sentences(schema, #"{"kind":"a"}"#) == [#"required The value lacks the property "size"."#])
        #expect(
            try sentences(schema, #"{"kind":"d"}"#)
                == ["oneOf The value must match exactly one of the schema's alternatives."])
    }

    @Test func allViolationsOfAnAlternativeAreReported() throws {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(Self.text)))
        let document = try JSONDocument(#"{"id":"x","parts":[1,2]}"#)
        #expect(
            validator.violations(in: document.root).map(\.description) == [
                "/id must be a whole number or null.", "/parts/0 must be a string.", "/parts/1 must be a string.",
            ])
        #expect(validator.violations(in: document.root, max: 2).count == 2)
    }

    @Test(arguments: [
        (#"{"not":{"required":["a","b"]}}"#, #"{"a":1,"b":2}"#, #"The value must not have both "a" and "b"."#),
        (#"{"not":{"required":["a"]}}"#, #"{"a":1}"#, #"The value must not have the property "a"."#),
        (
            #"{"not":{"required":["a","b","c"]}}"#, #"{"a":1,"b":2,"c":3}"#,
            #"The value must not have "a", "b" and "c" together."#
        ),
        (#"{"not":{"const":5}}"#, "5", "The value must not be 5."),
        (#"{"not":{"enum":[5,6]}}"#, "5", "The value must not be one of 5, 6."),
        (#"{"not":{"type":["null","array"]}}"#, "[]", "The value must not be null or an array."),
        (#"{"not":{"minimum":2}}"#, "5", "The value must not match the schema of not."),
        (
            #"{"oneOf":[{"required":["a"]},{"required":["b"]}]}"#, #"{"a":1,"b":2}"#,
            #"The value must have exactly one of "a", "b", and has both."#
        ),
    ])
    func exclusionsNameTheExcludedValue(_ schema: String, _ value: String, _ sentence: String) throws {
        let violation = try #require(try first(schema, value))
        #expect(violation.description == sentence)
    }

    @Test(arguments: [
        (
            #"{"description":"UNIX seconds. After it nothing is sent.","maximum":9}"#, "10",
            "The value must be at most 9 (UNIX seconds)."
        ),
        (#"{"title":"Age in years","minimum":9}"#, "1", "The value must be at least 9 (Age in years)."),
        (
            #"{"title":"T","description":"Digits, e.g. 5.1 or 6","pattern":"^\\d"}"#, #""x""#,
            #"The value must match the regular expression "^\d" (Digits, e.g. 5.1 or 6)."#
        ),
        (#"{"description":"Seconds. More.","type":"integer"}"#, #""x""#, "The value must be a whole number (Seconds)."),
        (#"{"description":"Everything.","type":"object"}"#, #""x""#, "The value must be an object."),
    ])
    func limitsQuoteTheDescription(_ schema: String, _ value: String, _ sentence: String) throws {
        let violation = try #require(try first(schema, value))
        #expect(violation.description == sentence)
    }

    @Test(arguments: [
        (
            #"{"if":{"required":["t"],"properties":{"t":{"const":"x"}}},"then":{"properties":{"p":{"const":5}}}}"#,
            #"{"t":"x","p":1}"#, #"/p must be 5, because /t is "x"."#
        ),
        (
            #"{"if":{"properties":{"t":{"enum":["x","y"]}}},"then":{"properties":{"p":false}}}"#, #"{"t":"y","p":1}"#,
            #"/p is not allowed here, because /t is "y"."#
        ),
        (
            #"{"if":{"properties":{"t":{"enum":["x","y"]}}},"then":{"properties":{"p":false}}}"#, #"{"p":1}"#,
            #"/p is not allowed here, because /t is missing."#
        ),
        (
            #"{"if":{"required":["t"]},"then":{"required":["p"]}}"#, #"{"t":"y"}"#,
            #"The value lacks the property "p", because /t is given."#
        ),
        (
            #"{"if":{"properties":{"t":{"const":"x"}}},"else":{"required":["p"]}}"#, #"{"t":"y"}"#,
            #"The value lacks the property "p", because /t is not "x"."#
        ),
        (
            #"{"if":{"required":["t"]},"else":{"required":["p"]}}"#, #"{}"#,
            #"The value lacks the property "p", because /t is missing."#
        ),
        (#"{"if":{"minProperties":1},"then":{"required":["p"]}}"#, #"{"t":1}"#, #"The value lacks the property "p"."#),
        (
            #"{"properties":{"o":{"allOf":[{"if":{"required":["t"]},"then":{"properties":{"p":{"anyOf":[{"type":"object","#
                + #""properties":{"q":{"type":"null"}}},{"type":"null"}]}}}}]}}}"#,
            #"{"o":{"t":1,"p":{"q":1}}}"#, "/o/p/q must be null, because /o/t is given."
        ),
    ])
    func conditionsAreTheReason(_ schema: String, _ value: String, _ sentence: String) throws {
        let violation = try #require(try first(schema, value))
        #expect(violation.description == sentence)
    }

    @Test func contractMessagesAreReadable() throws {
        let schema = try CompiledSchema(
            JSONDocument(try Files.bytes(of: Products.file("schemas/notification.schema.json"))))
        let validator = SchemaValidator(schema)
        func message(_ aps: String, _ more: String = "", pushType: String = "alert") throws -> String? {
            let text =
                #"{"app":"a","device_token":"ab","push_type":"\#(pushType)"\#(more),"payload":{"aps":{\#(aps)}}}"#
            return validator.firstViolation(in: try JSONDocument(text).root)?.description
        }
        #expect(try message(#""alert":5"#) == "/payload/aps/alert must be a string or an object.")
        #expect(try message(#""alert":{"title":5}"#) == "/payload/aps/alert/title must be a string, an object or null.")
        #expect(try message(#""alert":{"loc-args":[1]}"#) == "/payload/aps/alert/loc-args/0 must be a string.")
        #expect(
            try message(#""sound":{"volume":3}"#)
                == "/payload/aps/sound/volume must be at most 1 (From 0, which is silent, to 1).")
        #expect(
            try message(#""alert":"a""#, #","expiration":1767225600000"#)
                == "/expiration must be at most 9999999999 (UNIX seconds).")
        #expect(
            try message(#""content-available":1"#, #","priority":10"#, pushType: "background")
                == #"/priority must be 5, because /push_type is "background"."#)
        #expect(
            try message(#""content-available":1,"alert":"a""#, pushType: "background")
                == #"/payload/aps/alert is not allowed here, because /push_type is "background"."#)
        #expect(
            try message(
                #""event":"start","timestamp":1,"content-state":{},"alert":"a","attributes-type":"a","attributes":{},"#
                    + #""input-push-token":1,"input-push-channel":"a""#, pushType: "liveactivity")
                == #"/payload/aps must not have both "input-push-token" and "input-push-channel", "#
                + #"because /push_type is "liveactivity" and /payload/aps/event is "start"."#)
    }

    /// Beyond the limits of the search for a reason, the validator reports the violation without a reason.
    @Test func searchForAReasonIsBounded() throws {
        let many = (0..<40).map { #"{"type":"array","maxItems":\#($0 + 1),"uniqueItems":true}"# }
        let wide = #"{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}"#
        let long = "[" + String(repeating: "1,", count: 50_000) + "null]"
        #expect(try sentences(wide, long) == ["anyOf The value matches none of the schema's alternatives."])
        #expect(
            try sentences(
                #"{"anyOf":[\#(many.joined(separator: ","))]}"#, "[" + String(repeating: "1,", count: 500) + "1]")
                == ["anyOf The value matches none of the schema's alternatives."])
        // Each level has two references, and both check the same value.
        let twice = ##"{"anyOf":[{"type":"null"},{"type":"array","items":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}]}"##
        let deep = String(repeating: "[", count: 30) + "1" + String(repeating: "]", count: 30)
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(twice)))
        #expect(validator.firstViolation(in: try JSONDocument(deep).root) != nil)
    }

    private func first(_ schema: String, _ value: String) throws -> SchemaViolation? {
        SchemaValidator(try CompiledSchema(JSONDocument(schema))).firstViolation(in: try JSONDocument(value).root)
    }

    private func sentences(_ schema: String, _ value: String) throws -> [String] {
        try first(schema, value).map { ["\($0.keyword) \($0.description)"] } ?? []
    }
}
