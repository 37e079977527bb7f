/// Why something that was written for the simulator cannot be taken.
public struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for whoever wrote it.
    public var message: String
    /// The value at fault, as `JSONDocument.position(ofNode:)` takes it; nil when it is not one value's fault.
    public var node: Int?

    public init(_ message: String, node: Int? = nil) {
        self.message = message
        self.node = node
    }

    public var description: String { message }
}
