public import EventLoop
import Threads

/// Runs `body` on a loop and thread of its own, where it may own what lives on the loop; the task's values go with it.
public func onEpollLoop<Result: Sendable>(
    _ body: @escaping @Sendable (EpollLoop) async throws -> Result
) async throws -> Result {
    let loop = try EpollLoop()
    async let ended: Void = DetachedThread.run { loop.run() }
    let result = await Task(executorPreference: loop) { try await body(loop) }.result
    loop.stop()
    await ended
    return try result.get()
}

extension EpollLoop {
    /// Has the loop turn until `condition` holds.
    public func wait(until condition: () -> Bool) async throws {
        let deadline = now.monotonic + TestTimeout.duration
        while !condition() {
            guard now.monotonic < deadline else { throw NeverHeld() }
            await sleep(for: .milliseconds(1))
        }
    }

    private struct NeverHeld: Error {}
}
