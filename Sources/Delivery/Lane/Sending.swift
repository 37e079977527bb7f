import EventLoop

/// A notification that is to be sent for a delivery.
struct Sending {
    let notification: PushNotification
    /// What it is remembered by.
    let key: CopyKey
    /// Where its app has limits, when its turn came.
    var turnBegunAt: MonotonicTime?
}
