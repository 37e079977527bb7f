import EventLoop

/// A request that is to be pushed for a delivery.
struct PendingPush {
    let request: PushRequest
    /// Identifies the request in the memory of duplicates.
    let key: DeduplicationKey
    /// When the limits of its app permitted the push; nil without limits.
    var permitGrantedAt: MonotonicTime?
}
