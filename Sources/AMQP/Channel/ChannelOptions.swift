/// The options that a handler chooses for its channel.
struct ChannelOptions {
    /// The largest body in bytes. Larger bodies are discarded.
    var bodyBytesMax: Int
    /// The timeout, in seconds, of the answer to `channel.close` if the channel is to reopen. After the timeout, the
    /// connection is reset, unless reading is paused. nil means `openingDeadlineSeconds`.
    var closeSecondsMax: Int?
    /// Whether a channel that the broker closed reopens without a delay.
    var reopensImmediately = false
}
