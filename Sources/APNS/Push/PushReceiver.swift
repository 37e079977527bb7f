/// Receives the outcome of a push. A protocol, since the class that receives pushes inherits from the base class of publish
/// receivers.
public protocol PushReceiver: AnyObject {
    /// Called once for each push, on the loop's thread, in the event-loop iteration in which the outcome was known or in the
    /// next one. Never called from within a method of the pool. May send pushes.
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
