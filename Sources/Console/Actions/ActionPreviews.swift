import EventLoop

/// The plans of the last previews that have read a queue, by their member `expect`. It performs no I/O.
struct ActionPreviews: Sendable {
    /// Maximum number of plans. A further plan replaces the oldest.
    static let plansMax = 256
    /// The time for which a plan is valid.
    static let validSeconds: Int64 = 600

    private struct Entry {
        let plan: ActionPlan
        let content: String
        let at: MonotonicTime
    }

    /// The plans, oldest first.
    private var entries: [Entry] = []

    mutating func add(_ plan: ActionPlan, of content: String, at now: MonotonicTime) {
        entries.removeAll { $0.plan.expect == plan.expect || !now.isWithin(.seconds(Self.validSeconds), of: $0.at) }
        if entries.count >= Self.plansMax { entries.removeFirst() }
        entries.append(Entry(plan: plan, content: content, at: now))
    }

    /// Returns the plan of a preview of the same request; nil if there is none, or if it is no longer valid.
    func plan(_ expect: String?, of content: String, at now: MonotonicTime) -> ActionPlan? {
        entries.first {
            $0.plan.expect == expect && $0.content == content && now.isWithin(.seconds(Self.validSeconds), of: $0.at)
        }?.plan
    }

    /// Removes a plan, whose action has begun.
    mutating func remove(_ plan: ActionPlan) { entries.removeAll { $0.plan.expect == plan.expect } }
}
