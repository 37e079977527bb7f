import EventLoop

/// The streams of a connection that wait for an answer, the oldest first. Every request may take equally long, so the
/// order of sending is the order of the deadlines; an answer takes its stream out from any place at once.
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

    /// Adds a slot whose deadline is no sooner than the last one's.
    mutating func add(slot: Int, deadline: MonotonicTime) {
        while links.count <= slot { links.append(Link()) }
        links[slot] = Link(before: last, deadline: deadline, isWaiting: true)
        if last == Self.none { first = Int32(slot) } else { links[Int(last)].after = Int32(slot) }
        last = Int32(slot)
    }

    /// Takes a slot out; harmless when it is not there.
    mutating func remove(slot: Int) {
        guard links.indices.contains(slot), links[slot].isWaiting else { return }
        let link = links[slot]
        if link.before == Self.none { first = link.after } else { links[Int(link.before)].after = link.after }
        if link.after == Self.none { last = link.before } else { links[Int(link.after)].before = link.before }
        links[slot] = Link()
    }

    /// The deadline of the oldest.
    var next: MonotonicTime? { first == Self.none ? nil : links[Int(first)].deadline }

    /// Takes out the oldest slot whose deadline has come.
    mutating func popDue(_ now: MonotonicTime) -> Int? {
        guard let next, next <= now else { return nil }
        let slot = Int(first)
        remove(slot: slot)
        return slot
    }
}
