/// Receives the outcomes of publishes. A base class, so an outcome costs one virtual call.
open class PublishReceiver {
    public init() {}

    /// Called once for each message, on the loop's thread. The receiver may publish.
    ///
    /// A publisher never nests these calls. A message that is refused immediately has its outcome before `publish`
    /// returns, unless a receiver calls `publish`: then the call follows after that receiver returns.
    open func published(_ outcome: PublishOutcome) {}
}

/// Resumes the waiting task.
final class ContinuationReceiver: PublishReceiver {
    private let continuation: UnsafeContinuation<PublishOutcome, Never>

    init(_ continuation: UnsafeContinuation<PublishOutcome, Never>) {
        self.continuation = continuation
    }

    override func published(_ outcome: PublishOutcome) {
        continuation.resume(returning: outcome)
    }
}
