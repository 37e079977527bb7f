extension EpollLoop {
    /// Runs an asynchronous function on a new loop on the calling thread.
    ///
    /// - Returns: the function's result.
    /// - Throws: if the loop cannot be created.
    package static func run<Value: Sendable>(
        _ work: @escaping @Sendable (EpollLoop) async -> Value
    ) throws(TransportError) -> Value {
        let loop = try EpollLoop()
        let result = RunResult<Value>()
        loop.post {
            Task(executorPreference: loop) {
                result.value = await work(loop)
                loop.stop()
            }
        }
        loop.run()
        guard let value = result.value else { preconditionFailure("the loop stopped before the function returned") }
        return value
    }
}

/// The result of a function. `@unchecked Sendable`: written on the loop and read after the loop's end, on the same
/// thread.
private final class RunResult<Value: Sendable>: @unchecked Sendable {
    var value: Value?
}
