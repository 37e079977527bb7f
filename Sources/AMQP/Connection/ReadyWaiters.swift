import EventLoop

/// Those who wait until a channel is ready.
final class ReadyWaiters {
    private final class Waiter {
        var continuation: UnsafeContinuation<AMQPError?, Never>?

        func resume(_ error: AMQPError?) {
            continuation?.resume(returning: error)
            continuation = nil
        }
    }

    private var waiters: [Waiter] = []

    /// Returns when `resume` is called, or throws what it is called with. After `deadlineSeconds` it throws `late`.
    func wait(
        on loop: EventLoop, deadlineSeconds: Int, late: @escaping () -> AMQPError
    ) async throws(AMQPError) {
        let waiter = Waiter()
        let timer = loop.schedule(after: .seconds(deadlineSeconds)) { waiter.resume(late()) }
        waiters.append(waiter)
        let error = await withUnsafeContinuation { waiter.continuation = $0 }
        loop.cancel(timer)
        waiters.removeAll { $0 === waiter }
        if let error { throw error }
    }

    func resume(_ error: AMQPError?) {
        let resumed = waiters
        waiters = []
        for waiter in resumed { waiter.resume(error) }
    }
}
