/// The queues from which a lane wants deliveries.
enum LaneDemand {
    case everything
    /// The quarantine and expired requests, while APNs is unreachable. Expired requests are not pushed. The quarantine delivers
    /// one request at a time, and each interruption of consumption may count as a failed delivery, of which it allows few.
    case quarantineAndExpired
    case nothing

    /// - Parameters:
    ///   - isStuck: whether the lane cannot publish.
    ///   - isUnreachable: whether no endpoint of APNs accepts a connection.
    init(_ lifecycle: LaneLifecycle, isStuck: Bool, isUnreachable: Bool) {
        guard lifecycle == .running, !isStuck else {
            self = .nothing
            return
        }
        self = isUnreachable ? .quarantineAndExpired : .everything
    }
}
