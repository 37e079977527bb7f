import Glibc
import JSON
import TestKit
import Testing

@testable import JSONSchema

/// Schemas that consist of several documents, and the positions that their errors report.
struct ResourceTests {
    @Test(
        arguments: [
            // RFC 3986, section 5.4.
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
            ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
        ])
    func references(_ reference: String, _ resolved: String) {
        let base = URIReference("http://a/b/c/d;p?q")
        #expect(URIReference(reference).resolved(against: base).description == resolved)
    }

    @Test(arguments: [
        ("urn:example:a", "#b", "urn:example:a#b"), ("urn:uuid:1?+x", "#/b", "urn:uuid:1?+x#/b"),
        ("", "a.json", "a.json"), ("a/b.json", "c.json#d", "a/c.json#d"),
        ("file:///x/y.json", "../z.json", "file:///z.json"),
        ("http://a", "b", "http://a/b"),
    ])
    func otherBases(_ base: String, _ reference: String, _ resolved: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).description == resolved)
    }

    @Test func documentsReferToEachOther() throws {
        var resources = SchemaResources()
        resources.add(
            uri: "https://example.com/b.json",
            document: try JSONDocument(##"{"$defs":{"n":{"minimum":3}},"properties":{"up":{"$ref":"a.json"}}}"##))
        let schema = try CompiledSchema(
            JSONDocument(#"{"properties":{"n":{"$ref":"b.json#/$defs/n"},"b":{"$ref":"b.json"}}}"#),
            uri: "https://example.com/a.json", resources: resources)
        let validator = SchemaValidator(schema)
        #expect(validator.firstViolation(in: try JSONDocument(#"{"n":3,"b":{"up":{"n":4}}}"#).root) == nil)
        let violation = try #require(
            validator.firstViolation(in: try JSONDocument(#"{"b":{"up":{"b":{"up":{"n":1}}}}}"#).root))
        #expect(violation.instancePointer == "/b/up/b/up/n")
        #expect(violation.schemaPointer == "/$defs/n/minimum")
        #expect(violation.schemaLocation == "https://example.com/b.json#/$defs/n/minimum")
        #expect(violation.message == "must be at least 3")
    }

    @Test func missingDocumentsAreReported() throws {
        let document = try JSONDocument(#"{"items":{"$ref":"other.json#/a"}}"#)
        let error = try #require(throws: SchemaError.self) {
            try CompiledSchema(document, uri: "https://example.com/schemas/a.json")
        }
        #expect(error.code == .missing)
        #expect(error.uri == "https://example.com/schemas/a.json")
        #expect(error.pointer == "/items/$ref")
        #expect(error.message == "the schema refers to https://example.com/schemas/other.json, which was not given")
    }

    @Test func errorsInOtherDocumentsNameThem() throws {
        var resources = SchemaResources()
        resources.add(uri: "https://example.com/b.json", document: try JSONDocument(#"{"type":1}"#))
        let error = try #require(throws: SchemaError.self) {
            try CompiledSchema(JSONDocument(#"{"$ref":"https://example.com/b.json"}"#), resources: resources)
        }
        #expect(error.description.hasPrefix(#"schema at "https://example.com/b.json#/type": a type must be one of"#))
    }

    @Test func foldersServeTheirPrefix() throws {
        let folder = try TemporaryDirectory("schemas")
        try #require(mkdir(folder.file("sub"), 0o700) == 0)
        try folder.write("sub/a b.json", #"{"$ref":"../c.json#x"}"#)
        try folder.write("c.json", #"{"$defs":{"c":{"$anchor":"x","type":"null"}}}"#)
        try folder.write("broken.json", "{")
        // A name that begins with a combining mark, which forms one character with a preceding slash.
        try folder.write("\u{301}d.json", "{}")
        var resources = SchemaResources()
        resources.add(prefix: "https://example.com/", folder: "/nowhere")
        resources.add(prefix: "https://example.com/schemas/", folder: folder.path)
        let schema = try CompiledSchema(
            JSONDocument(#"{"$ref":"https://example.com/schemas/sub/a%20b.json"}"#), resources: resources)
        let validator = SchemaValidator(schema)
        #expect(validator.firstViolation(in: try JSONDocument("null").root) == nil)
        let violation = try #require(validator.firstViolation(in: try JSONDocument("1").root))
        #expect(violation.schemaLocation == "https://example.com/schemas/c.json#/$defs/c/type")
        for (name, text) in [
            ("broken.json", "is not JSON"), ("none.json", "was not given"), ("sub", "cannot read"),
            ("..%2F..%2Fetc/passwd", "was not given"), ("sub%2F..%2F%CC%81d.json", "was not given"),
            ("%00", "was not given"), ("%zz", "was not given"),
        ] {
            let error = try #require(throws: SchemaError.self) {
                try CompiledSchema(
                    JSONDocument(#"{"$ref":"https://example.com/schemas/\#(name)"}"#), resources: resources)
            }
            #expect(error.code == (text == "was not given" ? .missing : .resource))
            #expect(error.message.contains(text), "\(error.message)")
        }
    }

    @Test func aPrefixEndsWithAWholePart() throws {
        let folder = try TemporaryDirectory("prefixes")
        try #require(mkdir(folder.file("5"), 0o700) == 0)
        try folder.write("5/a.json", "true")
        try folder.write("a.json", "true")
        var resources = SchemaResources()
        resources.add(prefix: "http://localhost:1234", folder: folder.path)
        resources.add(prefix: "urn:example:", folder: folder.path)
        for (uri, isFound) in [
            ("http://localhost:1234/a.json", true), ("http://localhost:12345/a.json", false),
            ("urn:example:a.json", true),
        ] {
            #expect(try (resources.document(uri) != nil) == isFound, "\(uri)")
        }
    }

    @Test(arguments: [
        "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/meta/core", "https://json-schema.org/draft/2020-12/meta/applicator",
        "https://json-schema.org/draft/2020-12/meta/unevaluated",
        "https://json-schema.org/draft/2020-12/meta/validation", "https://json-schema.org/draft/2020-12/meta/meta-data",
        "https://json-schema.org/draft/2020-12/meta/format-annotation",
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
        "https://json-schema.org/draft/2020-12/meta/content",
    ])
    func metaSchemasAreBuiltIn(_ uri: String) throws {
        let document = try #require(MetaSchemas.document(URIReference(uri).withoutFragment.description))
        #expect(document.root["$id"]?.string == uri)
        let schema = try CompiledSchema(JSONDocument(#"{"$ref":"\#(uri)"}"#))
        #expect(schema.unknownKeywords == [])
        let validator = SchemaValidator(schema)
        #expect(validator.violations(in: document.root) == [])
        #expect(validator.firstViolation(in: try JSONDocument("1").root)?.keyword == "type")
    }

    /// The names look alike, but their bytes differ: `é` as one and as two code points.
    @Test func urisAreComparedByTheirBytes() throws {
        var resources = SchemaResources()
        resources.add(uri: "https://example.com/\u{E9}", document: try JSONDocument(#"{"const":1}"#))
        resources.add(uri: "https://example.com/e\u{301}", document: try JSONDocument(#"{"const":2}"#))
        let folder = try TemporaryDirectory("schemas")
        try folder.write("\u{301}.json", #"{"const":3}"#)
        resources.add(prefix: "https://example.com/folder/", folder: folder.path)
        let schema = """
            {"properties":{"1":{"$ref":"https://example.com/\u{E9}"},"2":{"$ref":"https://example.com/e\u{301}"},
            "3":{"$ref":"https://example.com/folder/\u{301}.json"},"4":{"$ref":"/\u{E9}"},"5":{"$ref":"/e\u{301}"},
            "6":{"$ref":"https://example.com/7#\u{E9}"},"7":{"$ref":"https://example.com/7#e\u{301}"}},
            "$defs":{"4":{"$id":"/\u{E9}","const":4},"5":{"$id":"/e\u{301}","const":5},
            "older":{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.com/7",
            "definitions":{"6":{"$id":"#\u{E9}","const":6},"7":{"$id":"#e\u{301}","const":7}}}}}
            """
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema), resources: resources))
        for number in 1...7 {
            let violation = validator.firstViolation(in: try JSONDocument(#"{"\#(number)":0}"#).root)
            #expect(violation?.message == "must be \(number)")
        }
    }

    /// Each `$id` makes the URI of nested schemas longer.
    @Test(arguments: ["a/", "./a/", "../a/b/"])
    func urisHaveALimit(_ id: String) throws {
        let depth = 9000
        let text =
            String(repeating: #"{"$id":"\#(id)","items":"#, count: depth) + "{}" + String(repeating: "}", count: depth)
        let document = try JSONDocument(text, limits: JSONLimits(depthMax: depth + 1))
        let error = #expect(throws: SchemaError.self) { try CompiledSchema(document) }
        #expect(error?.code == .unsupported)
    }

    @Test func schemasAreCheckedByTheirMetaSchema() throws {
        let validator = SchemaValidator(
            try CompiledSchema(JSONDocument(#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#)))
        let broken = try JSONDocument(#"{"properties":{"a":{"items":{"allOf":[{"minLength":-1}]}}}}"#)
        let violation = try #require(validator.firstViolation(in: broken.root))
        #expect(violation.instancePointer == "/properties/a/items/allOf/0/minLength")
        #expect(
            violation.schemaLocation
                == "https://json-schema.org/draft/2020-12/meta/validation#/$defs/nonNegativeInteger/minimum")
    }

    @Test func unknownRequiredVocabulariesAreRefused() throws {
        func compile(_ isRequired: Bool) throws -> CompiledSchema {
            var resources = SchemaResources()
            resources.add(
                uri: "https://example.com/meta",
                document: try JSONDocument(
                    #"{"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,"#
                        + #""https://example.com/vocab/money":\#(isRequired)}}"#))
            return try CompiledSchema(
                JSONDocument(#"{"$schema":"https://example.com/meta","minimum":5}"#), resources: resources)
        }
        let error = try #require(throws: SchemaError.self) { try compile(true) }
        #expect(error.code == .unsupported)
        #expect(error.message.contains("https://example.com/vocab/money"))
        // Without the validation vocabulary, nothing is asserted.
        let validator = SchemaValidator(try compile(false))
        #expect(validator.firstViolation(in: try JSONDocument("1").root) == nil)
    }
}
