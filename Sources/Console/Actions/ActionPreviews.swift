import EventLoop

/// The plans of the last previews that have read a queue, by their member `expect`. It performs no I/O.
struct ActionPreviews: Sendable {
    /// Maximum number of plans. A further plan replaces the oldest.
    static let plansMax = 256
    /// The time for which a plan is valid.
    static let validSeconds: Int64 = 600

    /// A plan, and its preview.
    struct Entry: Sendable {
        let plan: ActionPlan
        fileprivate let content: String
        fileprivate let at: MonotonicTime
    }

    /// The plans, oldest first.
    private var entries: [Entry] = []

    mutating func add(_ plan: ActionPlan, of content: String, at now: MonotonicTime) {
        entries.removeAll { $0.plan.expect == plan.expect || !now.isWithin(.seconds(Self.validSeconds), of: $0.at) }
        if entries.count >= Self.plansMax { entries.removeFirst() }
        entries.append(Entry(plan: plan, content: content, at: now))
    }

    /// Returns the preview of the same request; nil if there is none, or if it is no longer valid.
    func entry(_ expect: String?, of content: String, at now: MonotonicTime) -> Entry? {
        entries.first {
            $0.plan.expect == expect && $0.content == content && now.isWithin(.seconds(Self.validSeconds), of: $0.at)
        }
    }

    /// Removes a preview, whose action begins. A plan runs once.
    mutating func remove(_ entry: Entry) { entries.removeAll { $0.plan.expect == entry.plan.expect } }

    /// Restores a preview whose action has not begun.
    mutating func restore(_ entry: Entry) {
        guard !entries.contains(where: { $0.plan.expect == entry.plan.expect }) else { return }
        entries.insert(entry, at: entries.firstIndex { $0.at > entry.at } ?? entries.endIndex)
    }
}
