/// The supported drafts of JSON Schema. The raw value is the URI of the draft's meta-schema.
public enum SchemaDraft: String, Sendable, CaseIterable {
    case draft07 = "http://json-schema.org/draft-07/schema"
    /// A draft without a built-in meta-schema.
    case draft201909 = "https://json-schema.org/draft/2019-09/schema"
    case draft202012 = "https://json-schema.org/draft/2020-12/schema"

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
