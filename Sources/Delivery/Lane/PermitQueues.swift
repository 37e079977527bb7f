import EventLoop

/// The messages that wait in a lane for a turn of their app, in the order in which `AppLimits` has them.
struct PermitQueues {
    typealias Waiting = (sending: PendingPush, record: DeliveryRecord)

    /// By app.
    private var waiting: [FIFO<Waiting>]
    /// Whether those that wait are being called.
    var isCalling = false
    /// For the next that is to be called.
    let timer: DeadlineTimer
    /// Until it is looked which apps are no longer limited.
    var reviewTimer: TimerToken?

    init(appCount: Int, loop: EventLoop) {
        waiting = Array(repeating: FIFO(), count: appCount)
        timer = DeadlineTimer(on: loop)
    }

    mutating func add(_ sending: PendingPush, _ record: DeliveryRecord) {
        waiting[sending.notification.app].append((sending, record))
    }

    mutating func takeFirst(_ app: AppDirectory.Index) -> Waiting? { waiting[app].popFirst() }
}
