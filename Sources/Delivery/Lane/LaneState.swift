/// Whether a lane takes deliveries, and why not. Each obstacle ends by itself once its cause is gone.
///
/// A snapshot, computed from the lane's lifecycle, connections, routes and publishes.
public struct LaneState: Sendable, Hashable {
    /// The lane takes no more deliveries and settles those that it holds.
    public var isDraining = false
    /// An operator has paused the lane.
    public var isPaused = false
    /// Why outcomes cannot be published; nil if they can.
    public var publishingFailure: String?
    /// No endpoint of APNs accepts a connection.
    public var isUnreachable = false
    public var isConsuming = false
    /// Why the lane cannot consume; nil while it connects for the first time.
    public var consumingFailure: String?
    public var isPublishing = false
    /// Why the connection for publishing cannot be used.
    public var brokerFailure: String?

    /// Whether the lane takes deliveries and can publish their outcomes.
    public var isReady: Bool { wantsMessages && isConsuming && isPublishing }

    /// Whether the lane asks the broker for requests.
    public var wantsMessages: Bool { !isDraining && !isPaused && publishingFailure == nil && !isUnreachable }

    /// Why the lane is not ready, a sentence each.
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
}
