import Delivery

/// Whether a worker is ready: every lane takes messages and can tell what becomes of them.
struct Readiness {
    /// nil before the first word of a lane.
    private var lanes: [LaneState?]
    private(set) var isReady = false

    init(lanes: Int) { self.lanes = Array(repeating: nil, count: lanes) }

    /// Whether that changes the whole.
    mutating func lane(_ index: Int, _ state: LaneState) -> Bool {
        guard lanes.indices.contains(index) else { return false }
        lanes[index] = state
        let before = isReady
        isReady = lanes.allSatisfy { $0?.isReady == true }
        return before != isReady
    }

    /// Why not, each once, with the lanes that it is true of unless it is all.
    var reasons: [String] {
        var reasons: [(text: String, lanes: [Int])] = []
        for (index, state) in lanes.enumerated() {
            for text in state?.reasons ?? ["it has not begun yet"] {
                if let known = reasons.firstIndex(where: { $0.text == text }) {
                    reasons[known].lanes.append(index)
                } else {
                    reasons.append((text, [index]))
                }
            }
        }
        return reasons.map { text, lanes in
            guard lanes.count < self.lanes.count else { return text }
            return "lane \(lanes.map(String.init).joined(separator: ", ")): \(text)"
        }
    }
}
