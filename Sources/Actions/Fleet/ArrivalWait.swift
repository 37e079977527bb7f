import EventLoop

/// A wait for messages of the broker. Loop-bound, for one waiting task at a time.
final class ArrivalWait {
    private let loop: EventLoop
    private var waiter: UnsafeContinuation<Void, Never>?

    init(on loop: EventLoop) { self.loop = loop }

    /// Lets a waiting task check its condition again.
    func notify() { waiter.take()?.resume() }

    /// Waits until `isComplete` returns true, or the time has passed. Returns the last value of `isComplete`.
    @discardableResult
    func wait(milliseconds: Int, until isComplete: () -> Bool) async -> Bool {
        let end = loop.now.monotonic + .milliseconds(milliseconds)
        while !isComplete() {
            guard loop.now.monotonic < end else { return false }
            let timer = loop.schedule(at: end) { [self] in notify() }
            await withUnsafeContinuation { waiter = $0 }
            loop.cancel(timer)
        }
        return true
    }
}
