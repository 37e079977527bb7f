/// Whether a lane takes messages, and why not. What holds it up ends by itself when its cause is gone.
public struct LaneState: Sendable, Hashable {
    public private(set) var isDraining = false
    /// Why what becomes of messages cannot be published; nil when it can.
    public internal(set) var publishingFailure: String?
    /// Every route in use is held up by an open breaker.
    public internal(set) var areAllRoutesHeld = false
    /// No route in use has a connection. One may stand again in a moment; else breakers open.
    public internal(set) var isCutOff = false
    public internal(set) var isConsuming = false
    public internal(set) var isPublishing = false

    /// Whether messages are taken and what becomes of them can be published.
    public var isReady: Bool { isWell && isConsuming && isPublishing }

    private var isWell: Bool { !isDraining && publishingFailure == nil && !areAllRoutesHeld }

    /// Whether the broker is asked for messages.
    public var wantsMessages: Bool { isWell && !isCutOff }

    /// Whether messages of the quarantine are: while all routes are held, too. They come one at a time, and none can be
    /// fetched from there when one is needed to probe by.
    var wantsQuarantine: Bool { !isDraining && publishingFailure == nil }

    /// Returns whether this is news.
    mutating func drain() -> Bool {
        defer { isDraining = true }
        return !isDraining
    }
}
