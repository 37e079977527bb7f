import EventLoop

/// A counter of the `basic.qos` methods that a consumer sends only for the answer. The answer shows that the broker
/// has read everything that was sent before.
struct QosRoundTrips {
    private var sentCount = 0
    private var answeredCount = 0
    /// The tasks that wait for an answer. Each answer and the loss of the channel resume all tasks.
    let waiters = ContinuationList<Void>()

    var isAwaited: Bool { answeredCount < sentCount }

    /// Counts a method that is about to be sent and returns its number.
    mutating func sent() -> Int {
        sentCount += 1
        return sentCount
    }

    mutating func answered() {
        answeredCount += 1
        waiters.resume(returning: ())
    }

    /// Starts over after the loss of the channel.
    mutating func reset() {
        (sentCount, answeredCount) = (0, 0)
        waiters.resume(returning: ())
    }

    func isAnswered(_ number: Int) -> Bool { answeredCount >= number }
}
