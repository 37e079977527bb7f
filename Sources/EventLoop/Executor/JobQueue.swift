struct QueuedJob {
    var job: UnownedJob
    /// Whether the job was meant for the global pool, because a task without an executor preference was resumed on
    /// this thread.
    var isUnbound = false
}

/// A ring buffer of jobs, first in, first out. The buffer doubles when it is full, and never shrinks.
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
