/// The limits on the duration of a request and on the size of its response.
public struct HTTPLimits: Sendable, Hashable {
    /// Maximum time for name resolution, connecting, and the TLS handshake.
    public var connectMillisecondsMax = 5_000
    /// Maximum time for the whole request.
    public var wholeMillisecondsMax = 15_000
    public var headerBytesMax = 64 << 10
    public var bodyBytesMax = 16 << 20

    public init() {}

    public init(wholeMillisecondsMax: Int, bodyBytesMax: Int = 16 << 20) {
        self.wholeMillisecondsMax = wholeMillisecondsMax
        self.bodyBytesMax = bodyBytesMax
    }
}
