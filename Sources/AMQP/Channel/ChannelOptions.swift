/// What channels of one kind differ in.
struct ChannelOptions {
    /// Larger bodies are not kept.
    var bodyBytesMax: Int
    /// How long the broker may take to answer the close of a channel that is to be opened again; then its connection is
    /// given up. nil is the time that it may take to open one.
    var closeSecondsMax: Int?
    /// Whether a channel that the broker closed is opened again without a delay.
    var reopensAtOnce = false
}
