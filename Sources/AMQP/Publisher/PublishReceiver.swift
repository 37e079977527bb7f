/// Who is told what became of a message that it had published. A base class, so that each costs one virtual call.
open class PublishReceiver {
    public init() {}

    /// Called once for each message, on the loop's thread, and never while the same publisher tells another: for one that is
    /// neither sent nor waits before `publish` returns, but where that was called by one who was told, after that one. May
    /// publish.
    open func published(_ outcome: PublishOutcome) {}
}

/// Resumes the task that waits.
final class ContinuationReceiver: PublishReceiver {
    private let continuation: UnsafeContinuation<PublishOutcome, Never>

    init(_ continuation: UnsafeContinuation<PublishOutcome, Never>) {
        self.continuation = continuation
    }

    override func published(_ outcome: PublishOutcome) {
        continuation.resume(returning: outcome)
    }
}
