import EventLoop

/// A push inside the pool, with the receiver of its outcome.
struct Push {
    let request: APNSRequest
    let receiver: any PushReceiver
    /// The priority. Waiting pushes with lower values are sent first.
    let priority: UInt8
    /// Whether the push must be the first on its connection.
    let wantsFreshConnection: Bool
    let submittedAt: MonotonicTime
    /// The times of the push; nil if the push is not traced.
    let timing: PushTiming?
    var tries = ResendPolicy.Tries()

    /// Prefetches the objects that completing the push uses. The method is mutating, because a copy would retain every
    /// reference of the push.
    mutating func prefetch() {
        Prefetch.object(receiver)
        Prefetch.object(request)
    }
}
