import Delivery

/// Where a dead letter goes back to.
struct RedriveTarget: Sendable {
    let names: TopologyNames
    /// nil: where each came from.
    let queue: String?

    /// nil when that is no queue of requests any more, and there are several.
    func queue(for letter: DeadLetter) -> String? {
        if let queue { return queue }
        if let origin = letter.queue, names.takenQueues.contains(origin) { return origin }
        return names.requestQueues.count == 1 ? names.requestQueues[0] : nil
    }

    /// For an operator, where `queue(for:)` knows none.
    var advice: String {
        "where it came from is no queue of requests: "
            + names.requestQueues.map { "--to \($0)" }.joined(separator: " or ")
    }
}
