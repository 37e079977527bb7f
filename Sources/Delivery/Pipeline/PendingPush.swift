import EventLoop

/// A valid request that waits in the lane.
enum PendingRequest {
    case push(PendingPush)
    /// A request to users.
    case audience(PendingAudience)
}

/// A request that is to be pushed or is in flight, with its key and its permit.
struct PendingPush {
    let request: PushRequest
    /// The key of the request in the memory of duplicates.
    let key: DeduplicationKey
    /// The time at which the limits of the app permitted the push. nil if the app has no limits, or if the push has no
    /// permit.
    var permitGrantedAt: MonotonicTime?
}
