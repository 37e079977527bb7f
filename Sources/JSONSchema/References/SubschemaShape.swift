import JSON

/// The form of a keyword's value that contains schemas.
enum SubschemaShape {
    case schema
    case array
    case object
    /// `items`, which may be an array in older drafts.
    case schemaOrArray
    /// `dependencies`, which may also contain arrays of names.
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

    /// Returns the schemas in a keyword's value. The compiler reports malformed values.
    func schemas(in value: JSONValue) -> [JSONValue] {
        switch self {
        case .schema: [value]
        case .array: Array(value.elements)
        case .object: value.members.map(\.value)
        case .schemaOrArray: value.kind == .array ? Array(value.elements) : [value]
        case .objectWithArrays: value.members.map(\.value).filter { $0.kind != .array }
        }
    }
}
