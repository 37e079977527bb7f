/// A push on its way through the pool, with whoever waits for its outcome.
struct Push {
    let request: PushRequest
    private let continuation: UnsafeContinuation<PushOutcome, Never>
    /// How often APNs refused it unprocessed.
    var refusals = 0
    /// Whether it was sent again with a new provider token.
    var wasRefreshed = false

    init(_ request: PushRequest, _ continuation: UnsafeContinuation<PushOutcome, Never>) {
        self.request = request
        self.continuation = continuation
    }

    /// Called exactly once; whoever holds the push gives it away with this.
    func finish(_ outcome: PushOutcome) {
        continuation.resume(returning: outcome)
    }
}
