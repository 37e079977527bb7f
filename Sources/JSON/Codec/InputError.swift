/// Why a JSON value cannot be read as what it should be.
public struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for the author of the text.
    public var message: String
    /// The value at fault, as `JSONDocument.position(ofNode:)` takes it; nil if the error is not about one value.
    public var node: Int?

    public init(_ message: String, node: Int? = nil) {
        self.message = message
        self.node = node
    }

    public var description: String { message }

    /// Returns the same error with the place of a value, unless the error has a place already.
    func at(_ json: JSONValue) -> InputError { InputError(message, node: node ?? json.nodeIndex) }
}
