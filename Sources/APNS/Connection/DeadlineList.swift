import EventLoop

/// Slots by deadline: of streams that wait for an answer, and of pushes that wait for a stream. Most may take equally
/// long, so a new one finds its place at the end, or not far before it; what has ended is taken out from any place at once.
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

    /// Adds a slot that is not there, behind those whose deadline is no later.
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

    /// Takes a slot out; harmless when it is not there.
    mutating func remove(slot: Int) {
        guard links.indices.contains(slot), links[slot].isWaiting else { return }
        let link = links[slot]
        if link.before == Self.none { first = link.after } else { links[Int(link.before)].after = link.after }
        if link.after == Self.none { last = link.before } else { links[Int(link.after)].before = link.before }
        links[slot] = Link()
    }

    var isEmpty: Bool { first == Self.none }

    /// The soonest deadline.
    var next: MonotonicTime? { isEmpty ? nil : links[Int(first)].deadline }

    /// Takes out the slot of the soonest deadline, if that has come.
    mutating func popDue(_ now: MonotonicTime) -> Int? {
        guard let next, next <= now else { return nil }
        let slot = Int(first)
        remove(slot: slot)
        return slot
    }
}
