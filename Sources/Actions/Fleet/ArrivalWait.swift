import EventLoop

/// A wait for messages of the broker, for any number of tasks. Loop-bound.
final class ArrivalWait {
    private let loop: EventLoop
    private var waiters: [UnsafeContinuation<Void, Never>] = []

    init(on loop: EventLoop) { self.loop = loop }

    /// Lets the waiting tasks check their conditions again.
    func notify() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until `isComplete` returns true, or the time has passed. Returns the last value of `isComplete`.
    @discardableResult
    func wait(milliseconds: Int, until isComplete: () -> Bool) async -> Bool {
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
