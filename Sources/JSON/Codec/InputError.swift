/// The error for a JSON value that does not have the expected form.
public struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for the author of the JSON text.
    public var message: String
    /// The node index of the invalid value, for `JSONDocument.position(ofNode:)`; nil if the error does not concern
    /// one value.
    public var node: Int?

    public init(_ message: String, node: Int? = nil) {
        self.message = message
        self.node = node
    }

    public var description: String { message }

    /// Returns this error with the node of `json`, unless the error already has a node.
    func at(_ json: JSONValue) -> InputError { InputError(message, node: node ?? json.nodeIndex) }
}
