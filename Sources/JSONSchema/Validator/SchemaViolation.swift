/// One violation of a schema by a value.
public struct SchemaViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The JSON pointer to the value, or to the member with an invalid name.
    public var instancePointer: String
    /// The JSON pointer to the keyword in the schema's document.
    public var schemaPointer: String
    /// The keyword with its document, such as `file:///schemas/a.json#/properties/b/type`. Without a URI, the location
    /// is `#` and the pointer.
    public var schemaLocation: String
    public var keyword: String
    /// A predicate such as `must be a whole number`, for the developer of the program that wrote the value. The message
    /// quotes the schema. Of the value, it contains only member names, and constants that the schema also has.
    public var message: String
    /// The `nodeIndex` of the value, or of the invalid key. The document converts it to line and column.
    public var nodeIndex: Int
    /// The property or constant of the schema, or the Boolean, that was probably meant; nil if nothing is similar.
    public var suggestion: String?

    /// A complete sentence, such as `/payload/aps/badge must be a whole number.`
    public var description: String { sentence(of: instancePointer) }

    /// Returns the sentence with another form of the pointer.
    public func sentence(of pointer: String) -> String { "\(pointer.isEmpty ? "The value" : pointer) \(message)." }
}
