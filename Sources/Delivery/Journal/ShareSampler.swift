/// A sampler that selects a share of events at even distances. Pure.
struct ShareSampler: Sendable {
    private let share: Double
    private var credit = 0.0

    /// Creates a sampler.
    ///
    /// - Parameter share: 0 to 1.
    init(share: Double) { self.share = min(max(share, 0), 1) }

    /// Returns whether the next event is selected.
    mutating func selectsNext() -> Bool {
        credit += share
        guard credit >= 1 else { return false }
        credit -= 1
        return true
    }
}
