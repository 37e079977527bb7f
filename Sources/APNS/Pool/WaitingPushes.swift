import EventLoop

/// Pushes that the pool cannot send yet: those that take any stream, by priority, and those that want a connection of
/// their own. Each line goes in the order of coming; each push has a time at which it is given back.
struct WaitingPushes {
    /// Priorities are below this.
    static let prioritiesMax = 4

    private var slots: [Push?] = []
    private var freeSlots: [Int] = []
    // Lines of slots: where all deadlines are the same, the first to come is the first.
    private var shared = [DeadlineList](repeating: DeadlineList(), count: prioritiesMax)
    private var fresh = DeadlineList()
    private var deadlines = DeadlineList()
    private(set) var count = 0
    private var freshCount = 0

    var isEmpty: Bool { count == 0 }
    var hasFresh: Bool { freshCount > 0 }
    var hasShared: Bool { count > freshCount }

    /// Whether a push that takes any stream would have to wait behind another.
    func isBefore(priority: UInt8) -> Bool {
        hasShared && shared[...Int(priority)].contains { !$0.isEmpty }
    }

    mutating func add(_ push: Push, deadline: MonotonicTime) {
        let slot = freeSlots.popLast() ?? slots.endIndex
        if slot == slots.endIndex { slots.append(push) } else { slots[slot] = push }
        count += 1
        if push.wantsFreshConnection {
            freshCount += 1
            fresh.add(slot: slot, deadline: .distantFuture)
        } else {
            shared[Int(push.priority)].add(slot: slot, deadline: .distantFuture)
        }
        deadlines.add(slot: slot, deadline: deadline)
    }

    /// Of the push that `popShared` takes.
    var priority: UInt8? { hasShared ? shared.firstIndex { !$0.isEmpty }.map { UInt8($0) } : nil }

    /// The first of the lowest priority, among those that take any stream.
    mutating func popShared() -> Push? {
        guard let priority, let slot = shared[Int(priority)].popDue(.distantFuture) else { return nil }
        deadlines.remove(slot: slot)
        return take(slot)
    }

    mutating func popFresh() -> Push? {
        guard let slot = fresh.popDue(.distantFuture) else { return nil }
        deadlines.remove(slot: slot)
        return take(slot)
    }

    mutating func popAny() -> Push? { popShared() ?? popFresh() }

    /// The soonest deadline.
    var next: MonotonicTime? { deadlines.next }

    /// A push whose deadline has come.
    mutating func popDue(_ now: MonotonicTime) -> Push? {
        guard let slot = deadlines.popDue(now), let push = take(slot) else { return nil }
        if push.wantsFreshConnection {
            fresh.remove(slot: slot)
        } else {
            shared[Int(push.priority)].remove(slot: slot)
        }
        return push
    }

    private mutating func take(_ slot: Int) -> Push? {
        guard let push = slots[slot].take() else { return nil }
        freeSlots.append(slot)
        count -= 1
        if push.wantsFreshConnection { freshCount -= 1 }
        return push
    }
}
