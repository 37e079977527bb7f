import JSON
import JSONSchema
import TestKit
import Testing

/// The coverage of every keyword of 2020-12 by the cases.
///
/// If a keyword that has an effect is removed, at least one verdict differs.
struct KeywordCoverageTests {
    static let assertions = [
        "$id", "$schema", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$defs",
        "prefixItems", "items", "contains", "additionalProperties", "properties", "patternProperties",
        "dependentSchemas", "propertyNames", "if", "then", "else", "allOf", "anyOf", "oneOf", "not",
        "unevaluatedItems", "unevaluatedProperties",
        "type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
        "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains",
        "maxProperties", "minProperties", "required", "dependentRequired", "format",
    ]
    static let annotations = [
        "$comment", "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples",
        "contentEncoding", "contentMediaType", "contentSchema",
    ]
    static let formats = [
        "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
        "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer",
        "relative-json-pointer", "regex",
    ]

    @Test(arguments: assertions)
    func decides(_ keyword: String) throws {
        let groups = try Self.groups(with: keyword)
        #expect(
            groups.contains { group in
                group.tests.contains(where: \.isValid) && group.tests.contains { !$0.isValid }
                    && group.verdicts(without: keyword) != group.verdicts(without: nil)
            })
    }

    @Test(arguments: annotations)
    func keywordsWithoutEffectAcceptEveryValue(_ keyword: String) throws {
        let groups = try Self.groups(with: keyword)
        #expect(groups.contains { $0.tests.contains(where: \.isValid) })
        for group in groups {
            // Nil if the schema does not compile without the keyword.
            guard let verdicts = group.verdicts(without: keyword) else { continue }
            #expect(verdicts == group.verdicts(without: nil), "\(group.name)")
        }
    }

    // `$vocabulary` is in the meta-schemas to which the `$schema` of these groups refers.
    @Test func vocabulariesDecide() throws {
        let groups = try Self.groups(with: "$schema", in: "vocabulary")
        #expect(groups.contains { $0.verdicts(without: "$schema") != $0.verdicts(without: nil) })
    }

    @Test(arguments: formats)
    func formatsDecideWhereTheyAssert(_ format: String) throws {
        let groups = try Self.groups(with: "format", in: "format/\(format)")
        #expect(groups.contains { $0.tests.contains { $0.isValid && $0.data.kind == .string } })
        #expect(groups.contains { $0.tests.contains { !$0.isValid && $0.data.kind == .string } })
        for group in groups {
            #expect(group.verdicts(without: "format")?.contains(false) == false)
            #expect(group.verdicts(without: nil, options: SchemaOptions())?.contains(false) == false)
        }
    }

    /// The case files, and the keywords of each, so that a test case parses only files with its keyword.
    private static let files = Result {
        try SuiteTests.newerFiles.filter { !$0.name.hasPrefix("remotes/") }.map { file in
            (file, try CaseGroup.all(in: file).reduce(into: Set()) { $0.formUnion($1.keywords) })
        }
    }

    /// Returns the groups of a file, or of all files, whose schema has the keyword.
    private static func groups(with keyword: String, in file: String? = nil) throws -> [CaseGroup] {
        try files.get().filter { (file == nil || $0.name == file) && $1.contains(keyword) }
            .flatMap { try CaseGroup.all(in: $0.0) }.filter { $0.keywords.contains(keyword) }
    }
}

/// A schema of a case file, and its values.
private struct CaseGroup {
    var file: String
    var name: String
    var schema: JSONValue
    var tests: [(data: JSONValue, isValid: Bool)]

    static func all(in file: SuiteFile) throws -> [CaseGroup] {
        try JSONDocument(try Files.bytes(of: file.path)).root.elements.map { group in
            CaseGroup(
                file: file.name, name: group["description"]?.string ?? "", schema: try #require(group["schema"]),
                tests: try #require(group["tests"]).elements.map { test in
                    (try #require(test["data"]), try #require(test["valid"]?.bool as Bool?))
                })
        }
    }

    var keywords: Set<String> {
        var found: Set<String> = []
        var json = JSONWriter()
        SchemaCopy.write(schema, to: &json) { keyword in
            found.insert(keyword)
            return true
        }
        return found
    }

    /// Returns the verdicts after removing a keyword from all subschemas; nil if the schema then does not compile.
    func verdicts(without keyword: String?, options: SchemaOptions? = nil) -> [Bool]? {
        var json = JSONWriter()
        SchemaCopy.write(schema, to: &json) { $0 != keyword }
        let options = options ?? SchemaOptions(assertsFormat: file.hasPrefix("format/"))
        guard
            let compiled = try? CompiledSchema(
                JSONDocument(json.bytes), resources: SuiteTests.remotes, options: options)
        else { return nil }
        let validator = SchemaValidator(compiled)
        return tests.map { validator.firstViolation(in: $0.data) == nil }
    }
}

/// A writer of copies of schemas that have only the selected keywords, at all depths.
private enum SchemaCopy {
    static func write(_ schema: JSONValue, to json: inout JSONWriter, _ isWanted: (String) -> Bool) {
        switch schema.kind {
        case .object:
            json.beginObject()
            for (key, value) in schema.members {
                guard let keyword = key.string, isWanted(keyword) else { continue }
                json.key(keyword)
                switch keyword {
                case "const", "enum", "default", "examples", "dependentRequired": json.raw(value.sourceBytes)
                case "properties", "patternProperties", "$defs", "dependentSchemas":
                    json.beginObject()
                    for (name, subschema) in value.members {
                        json.key(name.string ?? "")
                        write(subschema, to: &json, isWanted)
                    }
                    json.endObject()
                default: write(value, to: &json, isWanted)
                }
            }
            json.endObject()
        case .array:
            json.beginArray()
            for element in schema.elements { write(element, to: &json, isWanted) }
            json.endArray()
        default: json.raw(schema.sourceBytes)
        }
    }
}
