/// Whether a lane takes messages, and why not.
public struct LaneState: Sendable, Hashable {
    public enum Phase: Sendable, Hashable {
        case running
        /// Our key, certificate or topology is wrong: nothing is consumed until somebody acts.
        case faulted(String)
        /// The last messages are finished, no new ones are taken.
        case draining
    }

    public private(set) var phase = Phase.running
    public var isConsuming = false
    public var isPublishing = false

    /// Whether messages are taken and can be told of.
    public var isReady: Bool { phase == .running && isConsuming && isPublishing }

    /// Whether a delivery that arrives now is begun; otherwise it goes back.
    public var takesDeliveries: Bool { phase == .running }

    /// Returns whether this is news.
    mutating func fault(_ reason: String) -> Bool {
        guard phase == .running else { return false }
        phase = .faulted(reason)
        return true
    }

    /// Returns whether this is news.
    mutating func drain() -> Bool {
        guard phase != .draining else { return false }
        phase = .draining
        return true
    }
}
