/// Chooses the connection for a push: the one with the fewest requests open among those that have a stream free, so that
/// the load spreads and a slow connection gets less of it. Within a turn of the loop the one that had the last push goes on
/// until another has fewer by ``StreamGate/lead``: what leaves together then fills few TLS records and packets. Pure;
/// considers one connection at a time, so that choosing allocates nothing.
struct ConnectionChoice {
    /// Whether the push is of those that go first.
    let isUrgent: Bool
    /// The index of the connection that had the last push of this turn; nil before the first.
    let latest: Int?
    private(set) var index: Int?
    private var inFlight = Int.max

    init(isUrgent: Bool, latest: Int?) {
        self.isUrgent = isUrgent
        self.latest = latest
    }

    mutating func consider(index: Int, _ gate: StreamGate) {
        guard gate.free(isUrgent: isUrgent) > 0 else { return }
        let inFlight = gate.inFlight - (index == latest ? gate.lead : 0)
        guard inFlight < self.inFlight else { return }
        self.index = index
        self.inFlight = inFlight
    }
}
