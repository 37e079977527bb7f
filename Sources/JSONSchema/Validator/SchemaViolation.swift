/// One rule of a schema that a value breaks.
public struct SchemaViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// JSON pointer to the value, or to the member whose name is wrong.
    public var instancePointer: String
    /// JSON pointer to the keyword in the schema's document.
    public var schemaPointer: String
    /// The keyword with its document: `file:///schemas/a.json#/properties/b/type`. Without a URI it is `#` and pointer.
    public var schemaLocation: String
    public var keyword: String
    /// What to do about it, for the developer of the program that wrote the value. It tells of the schema and holds
    /// nothing of the value but what an unknown property, or a word that is none of the schema's, likely means.
    public var message: String
    /// The `nodeIndex` of the value, or of the key that is wrong; a document knows its line and column.
    public var nodeIndex: Int
    /// The property that was probably meant by an unknown one, or the constant or boolean that was by another text.
    public var suggestion: String?

    /// A whole sentence: `/payload/aps/badge must be a whole number.`
    public var description: String { sentence(of: instancePointer) }

    /// The same with the pointer as it may be shown.
    public func sentence(of pointer: String) -> String { "\(pointer.isEmpty ? "The value" : pointer) \(message)." }
}
