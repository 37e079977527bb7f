import EventLoop

/// Pushes that wait, in the order in which they came, each with the time at which it is given back.
struct WaitingQueue {
    private var pushes: [(push: Push, deadline: MonotonicTime)?] = []
    private var head = 0

    var count: Int { pushes.count - head }
    var isEmpty: Bool { pushes.count == head }

    /// Deadlines do not go back.
    mutating func add(_ push: Push, deadline: MonotonicTime) {
        pushes.append((push, deadline))
    }

    /// The deadline of the first.
    var next: MonotonicTime? { isEmpty ? nil : pushes[head]?.deadline }

    func isDue(_ now: MonotonicTime) -> Bool { next.map { $0 <= now } ?? false }

    mutating func popFirst() -> Push? {
        guard !isEmpty, let first = pushes[head] else { return nil }
        pushes[head] = nil
        head += 1
        if head == pushes.count {
            pushes.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 >= pushes.count {
            pushes.removeFirst(head)
            head = 0
        }
        return first.push
    }
}
