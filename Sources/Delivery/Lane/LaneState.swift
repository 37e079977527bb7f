/// The readiness of a lane, with the reasons if the lane is not ready. Each reason disappears with its cause.
///
/// A snapshot, computed from the lane's lifecycle, connections, routes and publishes.
public struct LaneState: Sendable, Hashable {
    /// Whether the lane consumes no more requests and settles the deliveries in flight.
    public var isDraining = false
    /// Whether an operator has paused the lane.
    public var isPaused = false
    /// The reason why publishes of outcomes failed repeatedly; nil without repeated failures.
    public var publishingFailure: String?
    /// Whether no endpoint of APNs accepts a connection.
    public var isUnreachable = false
    public var isConsuming = false
    /// The reason why the lane cannot consume; nil without a failure.
    public var consumingFailure: String?
    public var isPublishing = false
    /// The failure of the connection or channel for publishing; nil without a failure.
    public var brokerFailure: String?

    /// Whether the lane consumes requests and can publish their outcomes.
    public var isReady: Bool { wantsRequests && isConsuming && isPublishing }

    /// Whether the lane wants to consume requests.
    public var wantsRequests: Bool { !isDraining && !isPaused && publishingFailure == nil && !isUnreachable }

    /// The reasons why the lane is not ready, one sentence each; empty if it is ready.
    public var reasons: [String] {
        var reasons: [String] = []
        if isDraining { reasons.append("draining: consumes no more requests and settles deliveries in flight") }
        if isPaused { reasons.append("paused by an operator; for the command to resume, run: martlet status") }
        if let publishingFailure { reasons.append("cannot publish outcomes: \(publishingFailure)") }
        if isUnreachable {
            reasons.append("no endpoint of APNs accepts a connection; for the reasons, run: martlet status")
        }
        if !isConsuming { reasons.append(consumingFailure ?? "not consuming yet") }
        if !isPublishing { reasons.append(brokerFailure ?? "not connected for publishing yet") }
        return reasons
    }
}
