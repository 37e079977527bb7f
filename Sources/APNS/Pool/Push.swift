import EventLoop

/// A push on its way through the pool, with whoever is told of its outcome.
struct Push {
    let request: APNSRequest
    let receiver: any PushReceiver
    /// Among those that wait for a stream, the lowest goes first.
    let priority: UInt8
    /// It has to be the first on its connection.
    let wantsFreshConnection: Bool
    /// When it was given to the pool.
    let givenAt: MonotonicTime
    /// Told of what happens, where somebody wants to know.
    let timing: PushTiming?
    var tries = ResendPolicy.Tries()

    /// It has its outcome soon. Mutating as a copy would count all references of the push.
    mutating func prefetch() {
        Prefetch.object(receiver)
        Prefetch.object(request)
    }
}
