import JSON
import JSONSchema
import TestKit
import Testing

/// The documentation of the schemas in `schemas/` for readers and editors. Each property and definition has a title, a
/// description, and examples, a default or fixed values.
struct SchemaDocumentationTests {
    @Test(arguments: ContractExample.schemas)
    func everyPropertyIsDocumented(_ name: String) throws {
        let schema = try ContractExample.document(of: name).root
        #expect(schema.lacks(titleAndDescription: "") == [])
        #expect(schema["examples"] != nil)
        var documented: Set<String> = []
        var findings: [String] = []
        for node in schema.declarations(inRules: false) {
            documented.insert(node.name)
            findings += node.lacks
        }
        // A rule for a property that is documented elsewhere need not repeat the documentation.
        for node in schema.declarations(inRules: true) where !documented.contains(node.name) { findings += node.lacks }
        #expect(findings == [])
    }

    @Test(arguments: ContractExample.schemas)
    func examplesAndDefaultsAreValid(_ name: String) throws {
        let document = try ContractExample.document(of: name)
        let schema = try CompiledSchema(document)
        #expect(schema.unknownKeywords == [])
        for example in document.root["examples"]?.elements.map({ $0 }) ?? [] {
            #expect(SchemaValidator(schema).violations(in: example).map(\.description) == [])
        }
        for inRules in [false, true] {
            for node in document.root.declarations(inRules: inRules) where node.schema.kind == .object {
                let validator = SchemaValidator(try CompiledSchema(try alone(node.schema, in: document.root)))
                let examples = node.schema["examples"]?.elements.map { $0 } ?? []
                for value in examples + [node.schema["default"]].compactMap({ $0 }) {
                    #expect(validator.violations(in: value).map(\.description) == [], "\(node.pointer)")
                }
            }
        }
    }

    /// Returns a property's schema together with all definitions of `schema`.
    private func alone(_ property: JSONValue, in schema: JSONValue) throws -> JSONDocument {
        var json = JSONWriter()
        json.beginObject()
        json.key("allOf")
        json.beginArray()
        json.raw(property.sourceBytes)
        json.endArray()
        if let definitions = schema["$defs"] {
            json.key("$defs")
            json.raw(definitions.sourceBytes)
        }
        json.endObject()
        return try JSONDocument(json.bytes)
    }
}

/// The named schema of a property or a definition.
private struct Declaration {
    var name: String
    var pointer: String
    var schema: JSONValue

    /// The missing annotations.
    var lacks: [String] {
        guard schema.kind == .object else { return [] }
        let shows = ["examples", "enum", "const", "default"].contains { schema[$0] != nil }
        return schema.lacks(titleAndDescription: pointer) + (shows ? [] : ["\(pointer) has no example"])
    }
}

extension JSONValue {
    fileprivate func lacks(titleAndDescription pointer: String) -> [String] {
        ["title", "description"].filter { self[$0]?.string?.isEmpty ?? true }.map { "\(pointer) has no \($0)" }
    }

    /// Returns the properties and definitions at all depths that belong to rules (`then`, `else`, `allOf`, `anyOf` and
    /// `oneOf`). Without `inRules`, returns all others.
    fileprivate func declarations(inRules: Bool) -> [Declaration] {
        var found: [Declaration] = []
        collect("", isRule: false) { declaration, isRule in if isRule == inRules { found.append(declaration) } }
        return found
    }

    private func collect(_ pointer: String, isRule: Bool, _ body: (Declaration, Bool) -> Void) {
        guard kind == .object else { return }
        for (key, value) in members {
            let keyword = key.string ?? ""
            switch keyword {
            case "properties", "$defs":
                for (name, schema) in value.members {
                    let place = "\(pointer)/\(keyword)/\(name.string ?? "")"
                    body(Declaration(name: name.string ?? "", pointer: place, schema: schema), isRule)
                    schema.collect(place, isRule: isRule, body)
                }
            case "items", "additionalProperties":
                value.collect("\(pointer)/\(keyword)", isRule: isRule, body)
            case "then", "else":
                value.collect("\(pointer)/\(keyword)", isRule: true, body)
            case "allOf", "anyOf", "oneOf":
                for (index, schema) in value.elements.enumerated() {
                    schema.collect("\(pointer)/\(keyword)/\(index)", isRule: true, body)
                }
            default: break
            }
        }
    }
}
