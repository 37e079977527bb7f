import Delivery

/// Decides whether a group of lanes is ready: every lane consumes and can publish results. Pure.
struct Readiness {
    /// By lane. nil: the lane has not reported yet.
    private var lanes: [LaneState?]
    private(set) var isReady = false

    init(lanes: Int) { self.lanes = Array(repeating: nil, count: lanes) }

    /// Returns whether `isReady` has changed.
    mutating func lane(_ index: Int, _ state: LaneState) -> Bool {
        guard lanes.indices.contains(index) else { return false }
        lanes[index] = state
        let before = isReady
        isReady = lanes.allSatisfy { $0?.isReady == true }
        return before != isReady
    }

    /// Why the group is not ready. A reason that does not apply to all lanes names its lanes.
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
