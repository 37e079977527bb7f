/// Whether a worker is ready: every lane takes messages and can tell what becomes of them.
struct Readiness {
    private var lanes: [Bool]
    private(set) var isReady = false

    init(lanes: Int) { self.lanes = Array(repeating: false, count: lanes) }

    /// Whether that changes the whole.
    mutating func lane(_ index: Int, isReady: Bool) -> Bool {
        guard lanes.indices.contains(index) else { return false }
        lanes[index] = isReady
        let before = self.isReady
        self.isReady = lanes.allSatisfy(\.self)
        return before != self.isReady
    }
}
