import EventLoop

/// The requests that wait in a lane for a permit of their app, in the order in which `AppLimits` counts them.
struct PermitQueues {
    typealias Waiting = (push: PendingPush, record: DeliveryRecord)

    /// The waiting requests by app.
    private var waiting: [FIFO<Waiting>]

    init(appCount: Int) { waiting = Array(repeating: FIFO(), count: appCount) }

    mutating func add(_ push: PendingPush, _ record: DeliveryRecord) {
        waiting[push.request.app].append((push, record))
    }

    mutating func takeFirst(_ app: AppDirectory.Index) -> Waiting? { waiting[app].popFirst() }
}
