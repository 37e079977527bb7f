/// The drafts of JSON Schema that are known here. `$schema` decides; this is for schemas without one.
public enum SchemaDraft: String, Sendable, CaseIterable {
    case draft07 = "http://json-schema.org/draft-07/schema"
    /// Known so that schemas can refer to schemas of this draft; its meta-schema is not built in.
    case draft201909 = "https://json-schema.org/draft/2019-09/schema"
    case draft202012 = "https://json-schema.org/draft/2020-12/schema"
}

/// What the keywords of a schema mean: those of a draft, less those of vocabularies that its meta-schema leaves out.
struct Dialect: Equatable {
    var draft: SchemaDraft
    var vocabularies: Vocabularies

    init(_ draft: SchemaDraft) {
        self.draft = draft
        vocabularies = .standard
    }

    /// From the `$vocabulary` of a meta-schema: nil for the first required vocabulary that is not known here.
    init(vocabularies names: [(uri: String, isRequired: Bool)], draft: SchemaDraft) throws(UnknownVocabulary) {
        self.draft = draft
        vocabularies = []
        for (uri, isRequired) in names {
            guard let (draft, vocabulary) = Self.vocabulary(uri) else {
                guard !isRequired else { throw UnknownVocabulary(uri: uri) }
                continue
            }
            if vocabulary == .core { self.draft = draft }
            vocabularies.insert(vocabulary)
        }
        vocabularies.insert(.core)
    }

    struct UnknownVocabulary: Error {
        var uri: String
    }

    private static func vocabulary(_ uri: String) -> (SchemaDraft, Vocabularies)? {
        for draft in [SchemaDraft.draft202012, .draft201909] {
            let prefix = draft.rawValue.dropLast("schema".count) + "vocab/"
            guard uri.hasPrefix(prefix) else { continue }
            switch uri.dropFirst(prefix.count) {
            case "core": return (draft, .core)
            case "applicator": return (draft, draft == .draft201909 ? [.applicator, .unevaluated] : .applicator)
            case "unevaluated" where draft == .draft202012: return (draft, .unevaluated)
            case "validation": return (draft, .validation)
            case "meta-data", "content": return (draft, .annotation)
            case "format", "format-annotation": return (draft, .format)
            case "format-assertion": return (draft, [.format, .formatAssertion])
            default: return nil
            }
        }
        return nil
    }
}

struct Vocabularies: OptionSet {
    let rawValue: UInt8

    static let core = Vocabularies(rawValue: 1)
    static let applicator = Vocabularies(rawValue: 2)
    static let unevaluated = Vocabularies(rawValue: 4)
    static let validation = Vocabularies(rawValue: 8)
    static let format = Vocabularies(rawValue: 16)
    static let formatAssertion = Vocabularies(rawValue: 32)
    /// What decides nothing: titles, examples, contents.
    static let annotation = Vocabularies(rawValue: 64)

    static let standard: Vocabularies = [.core, .applicator, .unevaluated, .validation, .format, .annotation]
}

extension Dialect {
    /// Whether a keyword has a meaning in this dialect.
    func knows(_ keyword: String) -> Bool {
        guard let (vocabulary, drafts) = Self.keywords[keyword] else { return false }
        return drafts.contains(draft) && vocabularies.isSuperset(of: vocabulary)
    }

    /// Draft-07: what stands beside `$ref` is ignored.
    var ignoresSiblingsOfRef: Bool { draft == .draft07 }
    /// An array of schemas in `items`, with `additionalItems` for the rest.
    var hasItemsArray: Bool { draft != .draft202012 }
    /// What `contains` finds counts as evaluated.
    var containsEvaluates: Bool { draft == .draft202012 }

    private static let all: [SchemaDraft] = SchemaDraft.allCases
    private static let newer: [SchemaDraft] = [.draft201909, .draft202012]

    /// Every keyword: its vocabulary and its drafts. Draft-07 has no vocabularies, which is to say all of them.
    private static let keywords: [String: (Vocabularies, [SchemaDraft])] = [
        "$id": (.core, all), "$schema": (.core, all), "$ref": (.core, all), "$comment": (.core, all),
        "$vocabulary": (.core, newer), "$anchor": (.core, newer), "$defs": (.core, newer),
        // Newer drafts keep `definitions` and `dependencies` from being anything else.
        "definitions": (.core, all), "dependencies": (.applicator, all),
        "$recursiveRef": (.core, [.draft201909]), "$recursiveAnchor": (.core, [.draft201909]),
        "$dynamicRef": (.core, [.draft202012]), "$dynamicAnchor": (.core, [.draft202012]),

        "allOf": (.applicator, all), "anyOf": (.applicator, all), "oneOf": (.applicator, all),
        "not": (.applicator, all), "if": (.applicator, all), "then": (.applicator, all), "else": (.applicator, all),
        "dependentSchemas": (.applicator, newer), "properties": (.applicator, all),
        "patternProperties": (.applicator, all), "additionalProperties": (.applicator, all),
        "propertyNames": (.applicator, all), "items": (.applicator, all), "contains": (.applicator, all),
        "prefixItems": (.applicator, [.draft202012]), "additionalItems": (.applicator, [.draft07, .draft201909]),
        "unevaluatedItems": (.unevaluated, newer), "unevaluatedProperties": (.unevaluated, newer),

        "type": (.validation, all), "const": (.validation, all), "enum": (.validation, all),
        "minimum": (.validation, all), "exclusiveMinimum": (.validation, all), "maximum": (.validation, all),
        "exclusiveMaximum": (.validation, all), "multipleOf": (.validation, all), "minLength": (.validation, all),
        "maxLength": (.validation, all), "pattern": (.validation, all), "minItems": (.validation, all),
        "maxItems": (.validation, all), "uniqueItems": (.validation, all), "minProperties": (.validation, all),
        "maxProperties": (.validation, all), "required": (.validation, all),
        "minContains": (.validation, newer), "maxContains": (.validation, newer),
        "dependentRequired": (.validation, newer),

        "format": (.format, all),
        "title": (.annotation, all), "description": (.annotation, all), "default": (.annotation, all),
        "examples": (.annotation, all), "deprecated": (.annotation, newer), "readOnly": (.annotation, all),
        "writeOnly": (.annotation, all), "contentEncoding": (.annotation, all),
        "contentMediaType": (.annotation, all), "contentSchema": (.annotation, newer),
    ]
}

/// Where schemas stand inside of a schema.
enum SubschemaShape {
    case schema
    case array
    case object
    /// `items` of older drafts.
    case schemaOrArray
    /// `dependencies`: arrays of names among them.
    case objectWithArrays

    init?(_ keyword: String) {
        switch keyword {
        case "not", "if", "then", "else", "additionalProperties", "propertyNames", "contains", "additionalItems",
            "unevaluatedItems", "unevaluatedProperties", "contentSchema":
            self = .schema
        case "allOf", "anyOf", "oneOf", "prefixItems": self = .array
        case "$defs", "definitions", "properties", "patternProperties", "dependentSchemas": self = .object
        case "items": self = .schemaOrArray
        case "dependencies": self = .objectWithArrays
        default: return nil
        }
    }
}
