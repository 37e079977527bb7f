public import EventLoop
import Threads

/// Runs `body` on a new event loop with its own thread. `body` may create and own objects of that loop.
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
    /// Waits until a condition is true.
    ///
    /// - Throws: An error if the condition is not true within `TestTimeout.duration`.
    public func wait(until condition: () -> Bool) async throws {
        let deadline = now.monotonic + TestTimeout.duration
        while !condition() {
            guard now.monotonic < deadline else { throw ConditionTimeout() }
            await sleep(for: .milliseconds(1))
        }
    }

    private struct ConditionTimeout: Error {}
}
