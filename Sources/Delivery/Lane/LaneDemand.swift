/// The queues from which a lane wants deliveries.
enum LaneDemand {
    case everything
    /// Only the quarantine and expired requests, while APNs is unreachable. Expired requests are not pushed. The
    /// quarantine permits few failed deliveries, and each pause of its consumer may count as one.
    case quarantineAndExpired
    case nothing

    /// Creates the demand of a lane in this state.
    ///
    /// - Parameters:
    ///   - isStuck: Whether the lane cannot publish.
    ///   - isUnreachable: Whether no endpoint of APNs accepts a connection.
    init(_ lifecycle: LaneLifecycle, isStuck: Bool, isUnreachable: Bool) {
        guard lifecycle == .running, !isStuck else {
            self = .nothing
            return
        }
        self = isUnreachable ? .quarantineAndExpired : .everything
    }
}
