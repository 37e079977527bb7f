/// The reason why a schema cannot be used, for its author.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A keyword's value violates the specification.
        case malformed
        /// The schema needs an unknown feature that affects validity.
        case unsupported
        /// A reference does not resolve, or is circular.
        case reference
        /// A referenced document was not provided.
        case missing
        /// A referenced document was provided, but cannot be read.
        case resource
        /// A regular expression cannot be compiled.
        case pattern
    }

    public var code: Code
    /// The JSON pointer into the schema's document.
    public var pointer: String
    public var message: String
    /// The URI of the document; empty if it has none.
    public var uri = ""

    public var description: String { "schema at \"\(uri.isEmpty ? "" : uri + "#")\(pointer)\": \(message)" }
}
