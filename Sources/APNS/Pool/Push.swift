import EventLoop

/// A push on its way through the pool, with whoever waits for its outcome.
struct Push {
    let request: APNSRequest
    private let continuation: UnsafeContinuation<PushOutcome, Never>
    /// Among those that wait for a stream, the lowest goes first.
    let priority: UInt8
    /// It has to be the first on its connection.
    let wantsFreshConnection: Bool
    /// When it was given to the pool.
    let givenAt: MonotonicTime
    /// Told of what happens, where somebody wants to know.
    let timing: PushTiming?
    var tries = ResendPolicy.Tries()

    init(
        _ request: APNSRequest, priority: UInt8, wantsFreshConnection: Bool, givenAt: MonotonicTime,
        timing: PushTiming?,
        _ continuation: UnsafeContinuation<PushOutcome, Never>
    ) {
        self.request = request
        self.priority = priority
        self.wantsFreshConnection = wantsFreshConnection
        self.givenAt = givenAt
        self.timing = timing
        self.continuation = continuation
    }

    /// It has its outcome soon. Mutating as a copy would count all references of the push.
    mutating func prefetch() {
        continuation.prefetchTask()
        Prefetch.object(request)
    }

    /// After `prefetch`.
    mutating func prefetchContext() {
        continuation.prefetchContext()
    }

    /// Called exactly once; whoever holds the push gives it away with this.
    func finish(_ outcome: PushOutcome) {
        continuation.resume(returning: outcome)
    }
}
