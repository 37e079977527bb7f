/// The base class of the receivers of publish outcomes. Each outcome costs one virtual call.
open class PublishReceiver {
    public init() {}

    /// Handles the outcome of a message, once for each message, on the loop's thread. The receiver may publish.
    ///
    /// A publisher never nests these calls. A message that can neither be sent nor wait has its outcome before
    /// `publish` returns. If a receiver calls `publish`, the outcome follows after this receiver returns.
    open func published(_ outcome: PublishOutcome) {}
}

/// A receiver that resumes the waiting task.
final class ContinuationReceiver: PublishReceiver {
    private let continuation: UnsafeContinuation<PublishOutcome, Never>

    init(_ continuation: UnsafeContinuation<PublishOutcome, Never>) {
        self.continuation = continuation
    }

    override func published(_ outcome: PublishOutcome) {
        continuation.resume(returning: outcome)
    }
}
