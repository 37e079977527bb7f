import EventLoop

/// Pushes that the pool cannot send yet: those that take any stream, by priority, and those that want a connection of
/// their own.
struct WaitingPushes {
    /// Priorities are below this.
    static let prioritiesMax = 4

    private var shared = [WaitingQueue](repeating: WaitingQueue(), count: prioritiesMax)
    private var fresh = WaitingQueue()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var hasFresh: Bool { !fresh.isEmpty }
    var hasShared: Bool { count > fresh.count }

    /// Whether a push that takes any stream would have to wait behind another.
    func isBefore(priority: UInt8) -> Bool {
        hasShared && shared[...Int(priority)].contains { !$0.isEmpty }
    }

    /// Deadlines do not go back.
    mutating func add(_ push: Push, deadline: MonotonicTime) {
        count += 1
        if push.wantsFreshConnection {
            fresh.add(push, deadline: deadline)
        } else {
            shared[Int(push.priority)].add(push, deadline: deadline)
        }
    }

    /// Of the push that `popShared` takes.
    var priority: UInt8? { hasShared ? shared.firstIndex { !$0.isEmpty }.map { UInt8($0) } : nil }

    /// The first of the lowest priority, among those that take any stream.
    mutating func popShared() -> Push? {
        guard let priority else { return nil }
        count -= 1
        return shared[Int(priority)].popFirst()
    }

    mutating func popFresh() -> Push? {
        guard let push = fresh.popFirst() else { return nil }
        count -= 1
        return push
    }

    mutating func popAny() -> Push? { popShared() ?? popFresh() }

    /// The soonest deadline.
    var next: MonotonicTime? {
        guard !isEmpty else { return nil }
        return shared.reduce(fresh.next ?? .distantFuture) { min($0, $1.next ?? .distantFuture) }
    }

    /// A push whose deadline has come.
    mutating func popDue(_ now: MonotonicTime) -> Push? {
        for index in shared.indices where shared[index].isDue(now) {
            count -= 1
            return shared[index].popFirst()
        }
        return fresh.isDue(now) ? popFresh() : nil
    }
}
