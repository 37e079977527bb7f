import Testing

/// A schema, values that it accepts, and values that it rejects with the expected keyword and position.
struct KeywordCase: CustomTestStringConvertible {
    var schema: String
    var valid: [String]
    var invalid: [(value: String, keyword: String, pointer: String)]

    init(_ schema: String, valid: [String], invalid: [(String, String, String)]) {
        self.schema = schema
        self.valid = valid
        self.invalid = invalid
    }

    /// Creates a case whose invalid values all violate one keyword at the value itself.
    init(_ schema: String, _ keyword: String, valid: [String], invalid: [String]) {
        self.init(schema, valid: valid, invalid: invalid.map { ($0, keyword, "") })
    }

    var testDescription: String { schema }
}

let assertionCases: [KeywordCase] = [
    KeywordCase("true", valid: ["1", "null", "{}"], invalid: []),
    KeywordCase("{}", valid: ["1", "null", "{}"], invalid: []),
    KeywordCase("false", "false", valid: [], invalid: ["1", "null", "{}"]),

    KeywordCase(#"{"type":"null"}"#, "type", valid: ["null"], invalid: ["0", "false", #""""#, "[]", "{}"]),
    KeywordCase(#"{"type":"boolean"}"#, "type", valid: ["true", "false"], invalid: ["0", "null", #""true""#]),
    KeywordCase(#"{"type":"string"}"#, "type", valid: [#""""#, #""1""#], invalid: ["1", "null", "[]"]),
    KeywordCase(#"{"type":"array"}"#, "type", valid: ["[]", "[1]"], invalid: ["{}", "null"]),
    KeywordCase(#"{"type":"object"}"#, "type", valid: ["{}", #"{"a":1}"#], invalid: ["[]", "null"]),
    KeywordCase(#"{"type":"number"}"#, "type", valid: ["0", "1.5", "1e400"], invalid: [#""1""#, "null", "true"]),
    KeywordCase(
        #"{"type":"integer"}"#, "type", valid: ["0", "-1", "1.0", "1e3", "1e400", "150e-1"],
        invalid: ["1.5", "1e-1", #""1""#, "null"]),
    KeywordCase(
        #"{"type":["integer","null"]}"#, "type", valid: ["0", "null", "2.0"], invalid: ["0.5", "false", "[]"]),

    KeywordCase(
        #"{"enum":["a","",1,null,[1,{"x":2}],{"a":1,"b":[]}]}"#, "enum",
        valid: [#""a""#, #""""#, "1", "1.0", "10e-1", "null", #"[1,{"x":2.0}]"#, #"{"b":[],"a":1}"#, #""\u0061""#],
        invalid: [
            #""b""#, "2", "false", "[]", #"[1,{"x":3}]"#, #"{"a":1}"#, #"{"a":1,"c":[]}"#, #"[{"x":2},1]"#, "true",
        ]),
    KeywordCase(
        #"{"enum":["eightcha","eightchb","a long string of many bytes","a long string OF many bytes"]}"#, "enum",
        valid: [#""eightcha""#, #""eightchb""#, #""a long string of many bytes""#, #""a long string OF many bytes""#],
        invalid: [#""eightchc""#, #""a long string oF many bytes""#, #""a long string of many byte""#]),
    KeywordCase(
        #"{"enum":[5,1,"a",3.50,-2,1e400,null,9,-1e400,0,5.0]}"#, "enum",
        valid: ["5", "1.0", "3.5", "-2", "1e400", "null", "9", "-10e399", "0.0", "-0"],
        invalid: ["2", "3", "-1", "1e401", "-1e401", "false", "10", "3.51"]),
    KeywordCase(#"{"enum":[]}"#, "enum", valid: [], invalid: ["1", #""""#]),
    KeywordCase(#"{"const":"a"}"#, "const", valid: [#""a""#], invalid: [#""b""#, "1"]),
    KeywordCase(#"{"const":0}"#, "const", valid: ["0", "-0", "0.0", "0e9"], invalid: ["false", "1", "1e-400"]),
    KeywordCase(#"{"const":false}"#, "const", valid: ["false"], invalid: ["0", "true", "null", "[]"]),
    KeywordCase(
        #"{"const":9007199254740993}"#, "const", valid: ["9007199254740993", "9007199254740993.0"],
        invalid: ["9007199254740992", "9007199254740993.0000000000000001"]),
    KeywordCase(
        #"{"const":{"a":[false,{"b":null}]}}"#, "const", valid: [#"{"a":[false,{"b":null}]}"#],
        invalid: [#"{"a":[0,{"b":null}]}"#, #"{"a":[false]}"#, #"{"a":[false,{}]}"#]),

    KeywordCase(
        #"{"minimum":1.1}"#, "minimum", valid: ["1.1", "2", #""x""#], invalid: ["1", "1.0999999999999999999", "-5"]),
    KeywordCase(
        #"{"minimum":-2}"#, "minimum", valid: ["-2", "-2.0", "0", "1e400"], invalid: ["-3", "-2.0001", "-1e400"]),
    KeywordCase(#"{"exclusiveMinimum":0}"#, "exclusiveMinimum", valid: ["1e-400", "1"], invalid: ["0", "-0.0", "-1"]),
    KeywordCase(#"{"maximum":3}"#, "maximum", valid: ["3", "3.0", "-9"], invalid: ["3.5", "4", "1e400"]),
    KeywordCase(
        #"{"maximum":9007199254740992}"#, "maximum", valid: ["9007199254740992"], invalid: ["9007199254740993", "1e19"]),
    KeywordCase(
        #"{"exclusiveMaximum":3}"#, "exclusiveMaximum", valid: ["2.99999999999999999999"], invalid: ["3", "3.0"]),
    KeywordCase(
        #"{"multipleOf":0.01}"#, "multipleOf", valid: ["0", "19.99", "4.02", "1e999999999", "null"],
        invalid: ["0.001", "1e-999999999", "19.999"]),
    KeywordCase(#"{"multipleOf":3}"#, "multipleOf", valid: ["9", "-9", "9.0"], invalid: ["10", "1e999999999", "9.3"]),

    KeywordCase(
        #"{"minLength":2}"#, "minLength", valid: [#""ab""#, #""äö""#, #""😀😀""#, "1", #""\ud83d\ude00x""#],
        invalid: [#""""#, #""a""#, #""😀""#, #""ä""#]),
    KeywordCase(
        #"{"maxLength":2}"#, "maxLength", valid: [#""ab""#, #""😀😀""#, "[1,2,3]"], invalid: [#""abc""#, #""äöü""#]),
    KeywordCase(#"{"minLength":1.0}"#, "minLength", valid: [#""a""#], invalid: [#""""#]),
    KeywordCase(#"{"minItems":1}"#, "minItems", valid: ["[1]", "{}", #""""#], invalid: ["[]"]),
    KeywordCase(#"{"maxItems":1}"#, "maxItems", valid: ["[]", "[1]", "null"], invalid: ["[1,2]"]),
    KeywordCase(#"{"minProperties":1}"#, "minProperties", valid: [#"{"a":1}"#, "[]"], invalid: ["{}"]),
    KeywordCase(#"{"maxProperties":1}"#, "maxProperties", valid: [#"{"a":1}"#, "{}"], invalid: [#"{"a":1,"b":1}"#]),

    KeywordCase(
        #"{"pattern":"^a*b$"}"#, "pattern", valid: [#""b""#, #""aaab""#, "1"], invalid: [#""ab\n""#, #""ba""#, #""""#]),
    KeywordCase(#"{"pattern":"b"}"#, "pattern", valid: [#""abc""#], invalid: [#""ac""#]),
    KeywordCase(#"{"pattern":"^\\d+$"}"#, "pattern", valid: [#""12""#], invalid: [#""١٢""#, #""a""#]),
    KeywordCase(#"{"pattern":"^\\u00e9.$"}"#, "pattern", valid: [#""é😀""#], invalid: [#""e😀""#]),
    KeywordCase(
        #"{"pattern":"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}"#, "pattern",
        valid: [#""01234567-89ab-cdef-0123-456789abcdef""#], invalid: [#""01234567-89ab-cdef-0123-456789abcde""#]),

    KeywordCase(
        #"{"title":"","description":"","default":1,"examples":[],"$comment":"","deprecated":true,"format":"uuid","x-note":1}"#,
        valid: ["1", #""no uuid""#], invalid: []),
]

let applicatorCases: [KeywordCase] = [
    KeywordCase(
        #"{"required":["a","b"]}"#, "required", valid: [#"{"a":1,"b":1}"#, #"{"b":1,"c":1,"a":null}"#, "[]"],
        invalid: [#"{"a":1}"#, "{}", #"{"a":1,"B":1}"#]),
    KeywordCase(
        #"{"properties":{"a":{"type":"string"},"b":{"properties":{"c":{"minimum":1}}},"":true,"x":false}}"#,
        valid: ["{}", #"{"a":""}"#, #"{"b":{"c":1},"":0}"#, #"{"other":1}"#, "[]"],
        invalid: [
            (#"{"a":1}"#, "type", "/a"), (#"{"b":{"c":0}}"#, "minimum", "/b/c"), (#"{"x":1}"#, "properties", "/x"),
            (#"{"\u0061":1}"#, "type", "/a"),
        ]),
    KeywordCase(
        #"{"properties":{"a":true},"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}"#,
        valid: ["{}", #"{"a":1}"#, #"{"xx":null,"a":2}"#],
        invalid: [(#"{"b":1}"#, "additionalProperties", "/b"), (#"{"x":1}"#, "type", "/x")]),
    KeywordCase(
        #"{"required":["a"],"additionalProperties":{"type":"string"}}"#,
        valid: [#"{"a":""}"#],
        invalid: [(#"{"a":1}"#, "type", "/a"), (#"{"a":"","b/~":1}"#, "type", "/b~1~0"), ("{}", "required", "")]),
    KeywordCase(
        #"{"patternProperties":{"a":{"minimum":2},"b":{"maximum":3}}}"#,
        valid: [#"{"a":9,"b":1,"ab":2}"#],
        invalid: [(#"{"ab":1}"#, "minimum", "/ab"), (#"{"ab":4}"#, "maximum", "/ab")]),
    KeywordCase(
        #"{"patternProperties":{"^a":false,"b":{"properties":{"c":{"type":"null"}}}}}"#,
        valid: [#"{"b":{"c":null}}"#],
        invalid: [(#"{"a":1}"#, "patternProperties", "/a"), (#"{"xb":{"c":1}}"#, "type", "/xb/c")]),
    KeywordCase(
        #"{"propertyNames":{"maxLength":2,"pattern":"^[a-z]*$"}}"#, valid: [#"{"ab":1,"":1}"#, "[]"],
        invalid: [(#"{"abc":1}"#, "maxLength", "/abc"), (#"{"A":1}"#, "pattern", "/A")]),
    KeywordCase(
        #"{"propertyNames":{"anyOf":[{"const":"a"},{"const":"b"}]}}"#, valid: [#"{"a":1,"b":1}"#],
        invalid: [(#"{"a":1,"c":1}"#, "anyOf", "/c")]),
    KeywordCase(
        #"{"items":{"type":"number"}}"#, valid: ["[]", "[1,2]", "{}"], invalid: [(#"[1,"a"]"#, "type", "/1")]),
    KeywordCase(
        #"{"prefixItems":[{"type":"number"},{"items":{"type":"null"}}],"items":false}"#,
        valid: ["[]", "[1]", "[1,[null]]"],
        invalid: [("[1,[],1]", "items", "/2"), ("[null]", "type", "/0"), ("[1,[null,0]]", "type", "/1/1")]),
    KeywordCase(
        #"{"dependentRequired":{"a":["b","c"],"c":["d"],"e":[]}}"#, "dependentRequired",
        valid: ["{}", #"{"b":1}"#, #"{"a":1,"b":1,"c":1,"d":1}"#, #"{"e":1}"#, "1"],
        invalid: [#"{"a":1}"#, #"{"a":1,"b":1}"#, #"{"c":1}"#, #"{"a":1,"b":1,"c":1}"#]),

    KeywordCase(
        #"{"allOf":[{"minimum":1},{"maximum":2},true,{"allOf":[{"multipleOf":0.5}]}]}"#, valid: ["1", "1.5", #""""#],
        invalid: [("0", "minimum", ""), ("3", "maximum", ""), ("1.1", "multipleOf", "")]),
    KeywordCase(
        #"{"anyOf":[{"type":"null"},{"type":"object","properties":{"a":{"const":1}},"required":["a"]},{"minimum":5,"type":"number"}]}"#,
        valid: ["null", #"{"a":1}"#, "5"],
        invalid: [("4", "minimum", ""), (#"{"a":2}"#, "const", "/a"), ("{}", "required", ""), ("true", "anyOf", "")]),
    KeywordCase(
        #"{"oneOf":[{"type":"integer"},{"minimum":2},{"type":"string","anyOf":[{"const":"a"}]}]}"#, "oneOf",
        valid: ["1", "2.5"], invalid: ["3", "1.5", #""a""#]),
    KeywordCase(
        #"{"oneOf":[{"required":["a"]},{"required":["b"]}]}"#, "oneOf",
        valid: [#"{"a":1}"#, #"{"b":1}"#], invalid: ["{}", #"{"a":1,"b":1}"#]),
    KeywordCase(#"{"not":{"type":"string"}}"#, "not", valid: ["1"], invalid: [#""""#]),
    KeywordCase(#"{"not":{"required":["a"]}}"#, "not", valid: ["{}", #"{"b":1}"#], invalid: [#"{"a":1}"#]),
    KeywordCase(#"{"not":{"not":{"type":"null"}}}"#, "not", valid: ["null"], invalid: ["1"]),
    KeywordCase(#"{"not":true}"#, "not", valid: [], invalid: ["1"]),
    KeywordCase(#"{"not":false}"#, valid: ["1"], invalid: []),
    KeywordCase(
        #"{"if":{"properties":{"k":{"const":"x"}},"required":["k"]},"then":{"required":["a"]},"else":{"required":["b"]}}"#,
        "required", valid: [#"{"k":"x","a":1}"#, #"{"k":"y","b":1}"#, #"{"b":1}"#],
        invalid: [#"{"k":"x","b":1}"#, #"{"k":"y","a":1}"#, "{}"]),
    KeywordCase(#"{"if":true,"then":{"type":"null"}}"#, "type", valid: ["null"], invalid: ["1"]),
    KeywordCase(#"{"if":false,"then":{"type":"null"},"else":{"minimum":1}}"#, "minimum", valid: ["2"], invalid: ["0"]),
    KeywordCase(#"{"if":{"type":"null"}}"#, valid: ["null", "1"], invalid: []),
    KeywordCase(#"{"then":false,"else":false}"#, valid: ["null", "1"], invalid: []),

    KeywordCase(
        ##"{"$ref":"#/$defs/a","maximum":9,"$defs":{"a":{"$ref":"#/$defs/b%20~1"},"b /":{"minimum":1}}}"##,
        valid: ["1", "9"], invalid: [("0", "minimum", ""), ("10", "maximum", "")]),
    KeywordCase(
        ##"{"properties":{"child":{"$ref":"#"},"list":{"items":{"$ref":"#"}}},"required":["id"]}"##,
        valid: [#"{"id":1,"child":{"id":2,"list":[{"id":3}]}}"#],
        invalid: [
            (#"{"id":1,"child":{"child":{"id":1}}}"#, "required", "/child"),
            (#"{"id":1,"list":[{"id":3},{"id":3,"child":{}}]}"#, "required", "/list/1/child"),
        ]),
    KeywordCase(
        ##"{"$id":"https://example.com/s.json","$ref":"https://example.com/s.json#/$defs/a","$defs":{"a":{"type":"null"}}}"##,
        "type", valid: ["null"], invalid: ["1"]),

    KeywordCase(#"{"contains":{"minimum":5}}"#, "contains", valid: ["[1,5]", "{}"], invalid: ["[]", "[1]"]),
    KeywordCase(
        #"{"contains":{"const":1},"minContains":2}"#, "minContains", valid: ["[1,1]"], invalid: ["[]", "[1,2]"]),
    KeywordCase(
        #"{"contains":{"const":1},"maxContains":1}"#, valid: ["[1,2]"], invalid: [("[1,1]", "maxContains", "")]),
    KeywordCase(
        #"{"uniqueItems":true}"#, "uniqueItems", valid: ["[1,2]", "[]"], invalid: ["[1,1.0]", #"[{"a":1},{"a":1}]"#]),
    KeywordCase(
        #"{"dependentSchemas":{"a":{"required":["b"]},"c":false}}"#, valid: ["{}", #"{"a":1,"b":1}"#],
        invalid: [(#"{"a":1}"#, "required", ""), (#"{"c":1}"#, "dependentSchemas", "")]),
    KeywordCase(
        #"{"properties":{"a":true},"unevaluatedProperties":false}"#, valid: [#"{"a":1}"#, "[]"],
        invalid: [(#"{"a":1,"b":1}"#, "unevaluatedProperties", "/b")]),
    KeywordCase(
        #"{"unevaluatedProperties":{"minimum":5}}"#, valid: [#"{"a":5}"#],
        invalid: [(#"{"a":5,"b":1}"#, "minimum", "/b")]),
    KeywordCase(
        #"{"prefixItems":[true],"unevaluatedItems":false}"#, valid: ["[1]", "{}"],
        invalid: [("[1,2]", "unevaluatedItems", "/1")]),
    KeywordCase(
        #"{"prefixItems":[false],"propertyNames":false,"not":{"const":1}}"#, valid: ["[]", "{}", "2"],
        invalid: [("[1]", "prefixItems", "/0"), (#"{"a":1}"#, "propertyNames", "/a"), ("1", "not", "")]),
    KeywordCase(
        #"{"if":{"minimum":5},"then":false,"else":{"allOf":[{"not":{"const":1}},{"multipleOf":2}]}}"#, valid: ["2"],
        invalid: [("5", "then", ""), ("1", "not", ""), ("3", "multipleOf", "")]),
    KeywordCase(#"{"if":{"minimum":5},"else":false}"#, "else", valid: ["5"], invalid: ["1"]),
    KeywordCase(
        ##"{"$defs":{"a":{"$dynamicAnchor":"a","type":"null"}},"items":{"$dynamicRef":"#a"}}"##, valid: ["[null]"],
        invalid: [("[null,1]", "type", "/1")]),
]
