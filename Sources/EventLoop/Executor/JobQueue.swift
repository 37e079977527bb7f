/// A job that waits for its turn.
struct QueuedJob {
    var job: UnownedJob
    /// It was meant for the global pool: a continuation of a task that prefers no executor was resumed on this thread.
    var isUnbound = false
}

/// First-in first-out ring of jobs; grows to the most that were ever waiting and allocates nothing below that.
struct JobQueue {
    private var ring: [QueuedJob?]
    private var head = 0
    private(set) var count = 0

    init() {
        ring = Array(repeating: nil, count: 1024)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ job: QueuedJob) {
        if count == ring.count { grow() }
        ring[(head &+ count) & (ring.count &- 1)] = job
        count &+= 1
    }

    mutating func popFirst() -> QueuedJob? {
        guard count > 0 else { return nil }
        let job = ring[head]
        head = (head &+ 1) & (ring.count &- 1)
        count &-= 1
        return job
    }

    private mutating func grow() {
        var larger = Array(ring[head...] + ring[..<head])
        larger.append(contentsOf: repeatElement(nil, count: ring.count))
        ring = larger
        head = 0
    }
}
