import Delivery

/// The readiness of a group of lanes. The group is ready if every lane consumes requests and can publish outcomes.
struct Readiness {
    private enum Report {
        case none
        case state(LaneState)
        case ended

        var isReady: Bool { if case .state(let state) = self { state.isReady } else { false } }

        var reasons: [String] {
            switch self {
            case .none: ["not started yet"]
            case .state(let state): state.reasons
            case .ended: ["lane thread exited"]
            }
        }
    }

    /// The latest report of each lane.
    private var reports: [Report]
    private(set) var isReady = false

    init(lanes: Int) { reports = Array(repeating: .none, count: lanes) }

    /// Records the state of a lane. Returns whether `isReady` has changed.
    mutating func lane(_ index: Int, _ state: LaneState) -> Bool { replace(index, with: .state(state)) }

    /// Records the end of a lane. Returns whether `isReady` has changed.
    mutating func laneEnded(_ index: Int) -> Bool { replace(index, with: .ended) }

    private mutating func replace(_ index: Int, with report: Report) -> Bool {
        guard reports.indices.contains(index) else { return false }
        reports[index] = report
        let before = isReady
        isReady = reports.allSatisfy(\.isReady)
        return before != isReady
    }

    /// The reasons why the group is not ready. A reason that does not apply to all lanes names its lanes.
    var reasons: [String] {
        var reasons: [(text: String, lanes: [Int])] = []
        for (index, report) in reports.enumerated() {
            for text in report.reasons {
                if let known = reasons.firstIndex(where: { $0.text == text }) {
                    reasons[known].lanes.append(index)
                } else {
                    reasons.append((text, [index]))
                }
            }
        }
        return reasons.map { text, lanes in
            guard lanes.count < reports.count else { return text }
            return "lane \(lanes.map(String.init).joined(separator: ", ")): \(text)"
        }
    }
}
