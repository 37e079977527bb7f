/// What a parser accepts before it looks at the meaning of a text.
public struct JSONLimits: Sendable, Hashable {
    /// Bytes of the whole text.
    public var bytesMax: Int
    /// Arrays and objects inside each other; 0 allows scalars only.
    public var depthMax: Int

    /// The default is what a message may have.
    public init(bytesMax: Int = 1 << 20, depthMax: Int = 128) {
        self.bytesMax = min(max(bytesMax, 0), Self.bytesCeiling)
        self.depthMax = min(max(depthMax, 0), Self.depthCeiling)
    }

    /// A node of the tape has 28 bits for the offset of its first byte.
    static let bytesCeiling = (1 << 28) - 1
    static let depthCeiling = 1 << 20
}
