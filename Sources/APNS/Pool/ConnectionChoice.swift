/// Chooses the connection for a push: the one with the fewest requests open among those that have a stream free, so that
/// the load spreads and a slow connection gets less of it. Pure; considers one connection at a time, so that choosing
/// allocates nothing.
struct ConnectionChoice {
    /// Whether the push is of those that go first.
    let isUrgent: Bool
    private(set) var index: Int?
    private var inFlight = Int.max

    init(isUrgent: Bool) {
        self.isUrgent = isUrgent
    }

    mutating func consider(index: Int, _ gate: StreamGate) {
        guard gate.free(isUrgent: isUrgent) > 0, gate.inFlight < inFlight else { return }
        self.index = index
        inFlight = gate.inFlight
    }
}
