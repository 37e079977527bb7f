/// Why a schema cannot be used; for the person who wrote the schema.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A keyword's value is not what its specification wants.
        case malformed
        /// A keyword that decides about validity is not known here, so the schema cannot be applied as it is meant.
        case unsupported
        /// A reference leads nowhere, or round in a circle.
        case reference
        /// A regular expression that cannot be compiled.
        case pattern
    }

    public var code: Code
    /// JSON pointer into the schema.
    public var pointer: String
    public var message: String

    public var description: String { "schema at \"\(pointer)\": \(message)" }
}
