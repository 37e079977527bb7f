/// Whether a lane takes messages, and why not. What holds it up ends by itself when its cause is gone.
public struct LaneState: Sendable, Hashable {
    private enum Phase: Hashable {
        /// To: stopping.
        case serving
        /// No more messages are wanted. Those in transit are delivered as ever. To: leaving.
        case stopping
        /// No more messages come. Those that are not sent yet return to the broker.
        case leaving
    }

    private var phase = Phase.serving
    public var isDraining: Bool { phase != .serving }
    /// Whether messages that are not sent yet return to the broker.
    var isLeaving: Bool { phase == .leaving }
    /// An operator has paused all of it.
    public internal(set) var isPaused = false
    /// Why what becomes of messages cannot be published; nil when it can.
    public internal(set) var publishingFailure: String?
    /// No endpoint of APNs accepts a connection.
    public internal(set) var isUnreachable = false
    public internal(set) var isConsuming = false
    /// What keeps it from consuming; nil while that is only being begun.
    public internal(set) var consumingFailure: String?
    public internal(set) var isPublishing = false
    /// What keeps the connection for publishing from being used.
    public internal(set) var brokerFailure: String?

    /// Whether messages are taken and what becomes of them can be published.
    public var isReady: Bool { isWell && isConsuming && isPublishing }

    private var isWell: Bool { !isDraining && !isPaused && publishingFailure == nil && !isUnreachable }

    /// Why it is not ready, a sentence each.
    public var reasons: [String] {
        var reasons: [String] = []
        if isDraining { reasons.append("it drains: it takes no more messages and settles those that it holds") }
        if isPaused { reasons.append("an operator has paused it: martlet resume") }
        if let publishingFailure { reasons.append("what became of messages cannot be published: \(publishingFailure)") }
        if isUnreachable { reasons.append("no endpoint of APNs accepts a connection, see breakers in its status") }
        if !isConsuming { reasons.append(consumingFailure ?? "it is not consuming yet") }
        if !isPublishing { reasons.append(brokerFailure ?? "it is not connected for publishing yet") }
        return reasons
    }

    /// Whether the broker is asked for messages.
    public var wantsMessages: Bool { isWell }

    /// Whether the broker is asked for messages of the quarantine and for expired ones: while APNs is unreachable, too.
    /// Expired ones are not pushed. Those of the quarantine come one at a time, and each interruption of consumption may
    /// count as a delivery without an end, of which the quarantine allows few.
    var wantsMessagesWithoutAPNS: Bool { !isDraining && !isPaused && publishingFailure == nil }

    /// Returns whether this is news.
    mutating func drain() -> Bool {
        guard phase == .serving else { return false }
        phase = .stopping
        return true
    }

    mutating func leave() { phase = .leaving }
}
