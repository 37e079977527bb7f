/// The options of a channel, by the kind of its handler.
struct ChannelOptions {
    /// The largest body in bytes. Larger ones are discarded.
    var bodyBytesMax: Int
    /// The timeout of the answer to a close, in seconds, if the channel is to reopen. After the timeout, its connection
    /// is reset. nil means `openingDeadlineSeconds`.
    var closeSecondsMax: Int?
    /// Whether a channel that the broker closed reopens without a delay.
    var reopensImmediately = false
}
