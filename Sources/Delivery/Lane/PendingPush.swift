import EventLoop

/// A notification that is to be sent for a delivery.
struct PendingPush {
    let notification: PushRequest
    /// What it is remembered by.
    let key: DeduplicationKey
    /// Where its app has limits, when its turn came.
    var turnBegunAt: MonotonicTime?
}
