import AMQP
import EventLoop

/// The tasks whose messages wait in a lane for a turn of their app, in the order in which `AppLimits` has them.
struct WaitingTurns {
    /// nil: the lane ends.
    typealias Waiter = UnsafeContinuation<AppLimit.Turn?, Never>

    /// By app.
    private var waiters: [FIFO<Waiter>]
    /// For the next that is to be called.
    var timer: (token: TimerToken, time: MonotonicTime)?
    /// Until it is looked which apps are no longer limited.
    var reviewTimer: TimerToken?

    init(appCount: Int) { waiters = Array(repeating: FIFO(), count: appCount) }

    mutating func add(_ waiter: Waiter, _ app: AppDirectory.Index) { waiters[app].append(waiter) }

    mutating func takeFirst(_ app: AppDirectory.Index) -> Waiter? { waiters[app].popFirst() }
}
