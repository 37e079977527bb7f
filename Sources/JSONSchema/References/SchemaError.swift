/// The reason why a schema cannot be used, for the author of the schema.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A schema or a keyword's value that violates the specification.
        case malformed
        /// An unknown draft or required vocabulary, or a schema that exceeds a limit of this implementation.
        case unsupported
        /// A reference that does not resolve or is circular, or a chain of meta-schemas that is too long.
        case reference
        /// A referenced document that was not provided.
        case missing
        /// A referenced document that was provided, but cannot be read.
        case resource
        /// A regular expression that cannot be compiled.
        case pattern
    }

    public var code: Code
    /// The position of the mistake, as a JSON pointer into the document.
    public var pointer: String
    public var message: String
    /// The URI of the document; empty for a document without a URI.
    public var uri = ""

    public var description: String { "schema at \"\(uri.isEmpty ? "" : uri + "#")\(pointer)\": \(message)" }
}
