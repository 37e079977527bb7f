extension EpollLoop {
    /// Runs an asynchronous function on a new loop on the calling thread.
    ///
    /// - Returns: the function's value, once it has ended.
    /// - Throws: why there is no loop.
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
        guard let value = result.value else { preconditionFailure("the loop ended before the function") }
        return value
    }
}

/// `@unchecked Sendable`: written on the loop, read after its end, both on one thread.
private final class RunResult<Value: Sendable>: @unchecked Sendable {
    var value: Value?
}
