/// A receiver of the outcomes of pushes. The type is a protocol, because the class that receives pushes inherits from
/// the base class of publish receivers.
public protocol PushReceiver: AnyObject {
    /// Receives the outcome of a push. The pool calls it once for each push, on the loop's thread, in the event-loop
    /// iteration in which the outcome was known or in the next one. The pool never calls it from within a method of
    /// the pool. An implementation may send pushes.
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
