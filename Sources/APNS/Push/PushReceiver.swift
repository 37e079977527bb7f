/// Is told what became of a push. A protocol of classes: who is told of pushes is told of publishes too, by another class.
public protocol PushReceiver: AnyObject {
    /// Called once for each push, on the loop's thread, later in the turn in which its outcome was known, or in the next: never
    /// from inside a call of the pool's methods. May push.
    func pushed(_ outcome: PushOutcome)
}

/// Resumes the task that waits.
final class ContinuationPushReceiver: PushReceiver {
    private let continuation: UnsafeContinuation<PushOutcome, Never>

    init(_ continuation: UnsafeContinuation<PushOutcome, Never>) {
        self.continuation = continuation
    }

    func pushed(_ outcome: PushOutcome) {
        continuation.resume(returning: outcome)
    }
}
