/// First-in first-out ring of jobs; grows to the most that were ever waiting and allocates nothing below that.
struct JobQueue {
    private var ring: [UnownedJob?]
    private var head = 0
    private(set) var count = 0

    init() {
        ring = Array(repeating: nil, count: 1024)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ job: UnownedJob) {
        if count == ring.count { grow() }
        ring[(head &+ count) & (ring.count &- 1)] = job
        count &+= 1
    }

    mutating func popFirst() -> UnownedJob? {
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
