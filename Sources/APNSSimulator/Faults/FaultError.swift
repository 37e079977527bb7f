/// Why a fault cannot be had.
public struct FaultError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for whoever wrote the fault.
    public var message: String
    /// The value at fault, as `JSONDocument.position(ofNode:)` takes it; nil when it is not one value's fault.
    public var node: Int?

    public init(_ message: String, node: Int? = nil) {
        self.message = message
        self.node = node
    }

    public var description: String { message }
}
