package import EventLoop

/// A wait for a condition, such as a message of the broker, for any number of tasks. Loop-bound.
package final class ArrivalWait {
    private let loop: EventLoop
    private var waiters: [UnsafeContinuation<Void, Never>] = []

    package init(on loop: EventLoop) { self.loop = loop }

    /// Lets the waiting tasks check their conditions again.
    package func notify() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until `isComplete` returns true, or the time has passed. Returns the last value of `isComplete`.
    @discardableResult
    package func wait(milliseconds: Int, until isComplete: () -> Bool) async -> Bool {
        let end = loop.now.monotonic + .milliseconds(milliseconds)
        while !isComplete() {
            guard loop.now.monotonic < end else { return false }
            let timer = loop.schedule(at: end) { [self] in notify() }
            await withUnsafeContinuation { waiters.append($0) }
            loop.cancel(timer)
        }
        return true
    }
}
