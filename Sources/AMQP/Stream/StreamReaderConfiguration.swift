/// The stream and the limits of a reader.
public struct StreamReaderConfiguration: Sendable {
    /// The name of the stream.
    public var stream: String
    /// The number of unacknowledged messages at which the broker stops delivering, 1 to 65,535. The broker delivers
    /// whole chunks, so more messages can be unacknowledged.
    public var prefetch: Int
    /// The largest body in bytes. Larger bodies are discarded. See `StreamMessage.isOversized`.
    public var messageBytesMax = 1 << 20

    public init(stream: String, prefetch: Int) {
        self.stream = stream
        self.prefetch = prefetch
    }
}
