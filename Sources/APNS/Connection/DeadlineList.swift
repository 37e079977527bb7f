import EventLoop

/// A linked list of slots, ordered by deadline. Each slot represents a stream that waits for an answer, or a push that
/// waits for a stream. Most timeouts are equal, so a new slot is inserted at or near the end. Removal takes constant
/// time.
struct DeadlineList {
    private struct Link {
        var before: Int32 = none
        var after: Int32 = none
        var deadline = MonotonicTime.distantFuture
        var isWaiting = false
    }

    private static let none: Int32 = -1
    private var links: [Link] = []
    private var first = none
    private var last = none

    /// Inserts a slot after all slots whose deadline is not later. The slot must not be in the list.
    mutating func add(slot: Int, deadline: MonotonicTime) {
        while links.count <= slot { links.append(Link()) }
        var (before, after) = (last, Self.none)
        while before != Self.none, links[Int(before)].deadline > deadline {
            (before, after) = (links[Int(before)].before, before)
        }
        links[slot] = Link(before: before, after: after, deadline: deadline, isWaiting: true)
        if before == Self.none { first = Int32(slot) } else { links[Int(before)].after = Int32(slot) }
        if after == Self.none { last = Int32(slot) } else { links[Int(after)].before = Int32(slot) }
    }

    /// Removes a slot. Does nothing if the slot is not in the list.
    mutating func remove(slot: Int) {
        guard links.indices.contains(slot), links[slot].isWaiting else { return }
        let link = links[slot]
        if link.before == Self.none { first = link.after } else { links[Int(link.before)].after = link.after }
        if link.after == Self.none { last = link.before } else { links[Int(link.after)].before = link.before }
        links[slot] = Link()
    }

    var isEmpty: Bool { first == Self.none }

    /// The earliest deadline; nil if the list is empty.
    var next: MonotonicTime? { isEmpty ? nil : links[Int(first)].deadline }

    /// Removes and returns the slot with the earliest deadline; nil if no deadline has passed.
    mutating func popDue(_ now: MonotonicTime) -> Int? {
        guard let next, next <= now else { return nil }
        let slot = Int(first)
        remove(slot: slot)
        return slot
    }
}
