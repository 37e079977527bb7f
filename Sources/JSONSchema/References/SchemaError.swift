/// Why a schema cannot be used; for the person who wrote the schema.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A keyword's value is not what its specification wants.
        case malformed
        /// Something that decides about validity is not known here, so the schema cannot be applied as it is meant.
        case unsupported
        /// A reference leads nowhere, or round in a circle.
        case reference
        /// A document that a reference needs was not given.
        case missing
        /// It was given, but cannot be read.
        case resource
        /// A regular expression that cannot be compiled.
        case pattern
    }

    public var code: Code
    /// JSON pointer into the schema's document.
    public var pointer: String
    public var message: String
    /// The URI of the document; empty when it has none.
    public var uri = ""

    public var description: String { "schema at \"\(uri.isEmpty ? "" : uri + "#")\(pointer)\": \(message)" }
}
