public struct JSONLimits: Sendable, Hashable {
    /// Maximum size of the text.
    public var bytesMax: Int
    /// Maximum nesting of arrays and objects; 0 allows scalars only.
    public var depthMax: Int

    /// Creates limits. Each value is clamped to the supported range.
    public init(bytesMax: Int = 1 << 20, depthMax: Int = 128) {
        self.bytesMax = min(max(bytesMax, 0), Self.bytesCeiling)
        self.depthMax = min(max(depthMax, 0), Self.depthCeiling)
    }

    /// The limit of `bytesMax`. A tape node has 28 bits for the offset of its first byte.
    static let bytesCeiling = (1 << 28) - 1
    static let depthCeiling = 1 << 20
}
