import EventLoop

/// Pushes that the pool cannot send yet. Shared pushes, which any connection may send, have one queue per priority.
/// Pushes that require a new connection have a single queue. Each queue is first in, first out. Each push has a
/// deadline at which it is returned unsent.
struct WaitingPushes {
    /// Number of priorities.
    static let prioritiesMax = 4

    private var slots: [Push?] = []
    private var freeSlots: [Int] = []
    // Each list serves as a queue of slots. All deadlines of a list are equal, and a list keeps the insertion order of
    // equal deadlines.
    private var shared = [DeadlineList](repeating: DeadlineList(), count: prioritiesMax)
    private var fresh = DeadlineList()
    private var deadlines = DeadlineList()
    private(set) var count = 0
    private var freshCount = 0

    var isEmpty: Bool { count == 0 }
    var hasFresh: Bool { freshCount > 0 }
    var hasShared: Bool { count > freshCount }

    /// Returns whether a shared push of this or a higher priority waits.
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

    /// The priority of the push that `popShared` returns; nil if no shared push waits.
    var priority: UInt8? { hasShared ? shared.firstIndex { !$0.isEmpty }.map { UInt8($0) } : nil }

    /// Removes and returns the first shared push with the lowest priority value; nil if no shared push waits.
    mutating func popShared() -> Push? {
        guard let priority, let slot = shared[Int(priority)].popDue(.distantFuture) else { return nil }
        deadlines.remove(slot: slot)
        return removePush(slot)
    }

    mutating func popFresh() -> Push? {
        guard let slot = fresh.popDue(.distantFuture) else { return nil }
        deadlines.remove(slot: slot)
        return removePush(slot)
    }

    mutating func popAny() -> Push? { popShared() ?? popFresh() }

    /// The earliest deadline; nil if no push waits.
    var next: MonotonicTime? { deadlines.next }

    /// Removes and returns a push whose deadline has passed; nil if no deadline has passed.
    mutating func popDue(_ now: MonotonicTime) -> Push? {
        guard let slot = deadlines.popDue(now), let push = removePush(slot) else { return nil }
        if push.wantsFreshConnection {
            fresh.remove(slot: slot)
        } else {
            shared[Int(push.priority)].remove(slot: slot)
        }
        return push
    }

    private mutating func removePush(_ slot: Int) -> Push? {
        guard let push = slots[slot].take() else { return nil }
        freeSlots.append(slot)
        count -= 1
        if push.wantsFreshConnection { freshCount -= 1 }
        return push
    }
}
