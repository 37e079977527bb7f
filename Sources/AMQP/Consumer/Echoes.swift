import EventLoop

/// `basic.qos` that a consumer sends for its answer alone, which shows that the broker has read what was sent before.
struct Echoes {
    private var sentCount = 0
    private var answeredCount = 0
    /// Resumed at each answer, and when the channel is lost.
    let waiters = ContinuationList<Void>()

    var isAwaited: Bool { answeredCount < sentCount }

    /// Counts one that is being sent; returns its number.
    mutating func sent() -> Int {
        sentCount += 1
        return sentCount
    }

    mutating func answered() {
        answeredCount += 1
        waiters.resume(returning: ())
    }

    /// The channel is lost.
    mutating func reset() {
        (sentCount, answeredCount) = (0, 0)
        waiters.resume(returning: ())
    }

    func isAnswered(_ number: Int) -> Bool { answeredCount >= number }
}
