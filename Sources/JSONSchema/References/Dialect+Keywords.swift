/// The keywords of a dialect.
extension Dialect {
    /// Returns whether a keyword has a meaning in this dialect.
    func knows(_ keyword: String) -> Bool {
        guard let (vocabulary, drafts) = Self.keywords[keyword] else { return false }
        return drafts.contains(draft) && vocabularies.isSuperset(of: vocabulary)
    }

    private static let all: [SchemaDraft] = SchemaDraft.allCases
    private static let newer: [SchemaDraft] = [.draft201909, .draft202012]

    /// The vocabulary and the drafts of every keyword. Draft-07 has no vocabularies, so all its keywords apply.
    private static let keywords: [String: (Vocabularies, [SchemaDraft])] = [
        "$id": (.core, all), "$schema": (.core, all), "$ref": (.core, all), "$comment": (.core, all),
        "$vocabulary": (.core, newer), "$anchor": (.core, newer), "$defs": (.core, newer),
        // Newer drafts keep `definitions` and `dependencies` for compatibility.
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
