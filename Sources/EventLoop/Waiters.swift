/// Those who wait to be told something, each for a limited time. For the loop's thread alone.
public final class Waiters<Value: Sendable> {
    private final class Waiter {
        var continuation: UnsafeContinuation<Value, Never>?

        func resume(_ value: Value) { continuation.take()?.resume(returning: value) }
    }

    private var waiters: [Waiter] = []

    public init() {}

    /// Returns what `resume` is called with, or after `delay` what `late` says then.
    public func wait(on loop: EventLoop, for delay: Duration, late: @escaping () -> Value) async -> Value {
        let waiter = Waiter()
        let timer = loop.schedule(after: delay) { waiter.resume(late()) }
        waiters.append(waiter)
        let value = await withUnsafeContinuation { waiter.continuation = $0 }
        loop.cancel(timer)
        waiters.removeAll { $0 === waiter }
        return value
    }

    /// To all that wait now.
    public func resume(returning value: Value) {
        let resumed = waiters
        waiters = []
        for waiter in resumed { waiter.resume(value) }
    }
}
