/// A receiver of the outcomes of pushes. The type is a protocol, because the class that receives pushes inherits from
/// the base class of publish receivers.
public protocol PushReceiver: AnyObject {
    /// Receives the outcome of a push. Called once for each push, on the loop's thread, and never from within a public
    /// method of the pool. The call happens in the event-loop iteration in which the outcome became known, or in the
    /// next one. An implementation may send pushes.
    func pushed(_ outcome: PushOutcome)
}

/// A receiver that resumes a continuation with the outcome.
final class ContinuationPushReceiver: PushReceiver {
    private let continuation: UnsafeContinuation<PushOutcome, Never>

    init(_ continuation: UnsafeContinuation<PushOutcome, Never>) {
        self.continuation = continuation
    }

    func pushed(_ outcome: PushOutcome) {
        continuation.resume(returning: outcome)
    }
}
