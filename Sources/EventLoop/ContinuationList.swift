/// A list of tasks that wait for the same value.
///
/// The list is used on one loop's thread only.
public final class ContinuationList<Value: Sendable> {
    private final class Waiter {
        var continuation: UnsafeContinuation<Value, Never>?

        func resume(_ value: Value) { continuation.take()?.resume(returning: value) }
    }

    private var waiters: [Waiter] = []

    public init() {}

    /// Returns the value of the next `resume(returning:)`.
    public func wait() async -> Value {
        let waiter = Waiter()
        waiters.append(waiter)
        return await withUnsafeContinuation { waiter.continuation = $0 }
    }

    /// Returns the value of the next `resume(returning:)`, or `timeoutValue()` after `delay`.
    public func wait(on loop: EventLoop, for delay: Duration, timeoutValue: @escaping () -> Value) async -> Value {
        let waiter = Waiter()
        let timer = loop.schedule(after: delay) { waiter.resume(timeoutValue()) }
        waiters.append(waiter)
        let value = await withUnsafeContinuation { waiter.continuation = $0 }
        loop.cancel(timer)
        waiters.removeAll { $0 === waiter }
        return value
    }

    /// Resumes all waiting tasks.
    public func resume(returning value: Value) {
        let resumed = waiters
        waiters = []
        for waiter in resumed { waiter.resume(value) }
    }
}
