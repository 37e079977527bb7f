import EventLoop

/// The requests that wait in a lane for a permit of their app, in the order that `AppLimits` counts them in.
struct PermitQueues {
    typealias Waiting = (push: PendingPush, record: DeliveryRecord)

    /// By app.
    private var waiting: [FIFO<Waiting>]

    init(appCount: Int) { waiting = Array(repeating: FIFO(), count: appCount) }

    mutating func add(_ push: PendingPush, _ record: DeliveryRecord) {
        waiting[push.request.app].append((push, record))
    }

    mutating func takeFirst(_ app: AppDirectory.Index) -> Waiting? { waiting[app].popFirst() }
}
