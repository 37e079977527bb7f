import EventLoop
import HTTP2

/// Answers that wait for their time. All wait equally long, so that they come due in the order in which they came: a
/// ring is all the timer they need.
struct AnswerQueue {
    struct Waiting {
        var due: MonotonicTime
        var connection: SimulatorConnection
        var stream: HTTP2Stream
        var answer: Answer
        var isAuthenticated: Bool
    }

    private var ring: [Waiting?] = Array(repeating: nil, count: 64)
    private var head = 0
    private var count = 0

    mutating func append(_ waiting: Waiting) {
        if count == ring.count {
            ring = Array(ring[head...] + ring[..<head]) + Array(repeating: nil, count: count)
            head = 0
        }
        ring[(head + count) & (ring.count - 1)] = waiting
        count += 1
    }

    /// When the first comes due; nil when none waits.
    var nextDue: MonotonicTime? { count == 0 ? nil : ring[head]?.due }

    /// Takes out the first when its time has come.
    mutating func popDue(_ now: MonotonicTime) -> Waiting? {
        guard let due = nextDue, due <= now, let waiting = ring[head] else { return nil }
        ring[head] = nil
        head = (head + 1) & (ring.count - 1)
        count -= 1
        return waiting
    }
}
