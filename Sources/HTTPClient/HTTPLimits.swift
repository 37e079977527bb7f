/// How long a request may take, and how much may come back.
public struct HTTPLimits: Sendable, Hashable {
    /// For looking the name up, connecting, and TLS.
    public var connectMillisecondsMax = 5_000
    /// For all of it.
    public var wholeMillisecondsMax = 15_000
    public var headerBytesMax = 64 << 10
    public var bodyBytesMax = 16 << 20

    public init() {}

    public init(wholeMillisecondsMax: Int, bodyBytesMax: Int = 16 << 20) {
        self.wholeMillisecondsMax = wholeMillisecondsMax
        self.bodyBytesMax = bodyBytesMax
    }
}
