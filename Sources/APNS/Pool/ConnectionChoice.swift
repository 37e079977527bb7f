/// The choice of the connection for a push. Among connections with a free stream, the connection with the fewest open
/// requests is chosen. A slow connection therefore receives fewer pushes.
///
/// Within one event-loop iteration, pushes stay on one connection until its open requests exceed those of another
/// connection by ``StreamGate/lead``. Pushes that are written together then share TLS records and packets.
///
/// The type is pure. Callers pass one connection at a time, which avoids allocations.
struct ConnectionChoice {
    /// Whether the push has the highest priority.
    let isUrgent: Bool
    /// The index of the connection that got the last push of this event-loop iteration; nil before the first push.
    let latest: Int?
    /// The index of the chosen connection; nil if no connection has a free stream.
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
