import Testing

@testable import EventLoop

@Suite struct PrefetchTests {
    /// What is fetched ahead of a resumption is what the runtime follows then: what it writes stands where it is looked for.
    @Test func theRuntimesRecordsAreWhereTheyAreLookedFor() throws {
        let loop = VirtualLoop(seed: 1)
        // The loop runs on the test's own thread.
        nonisolated(unsafe) var waiting: UnsafeContinuation<Int, Never>?
        nonisolated(unsafe) var got: Int?
        loop.enter {
            _ = Task(executorPreference: loop) { got = await withUnsafeContinuation { waiting = $0 } }
        }
        _ = loop.run(limit: .seconds(1)) { waiting != nil }
        let continuation = try #require(waiting)
        try loop.enter {
            continuation.prefetchTask()
            continuation.prefetchContext()
            let result = try #require(continuation.resultPlace).load(as: UnsafeRawPointer.self)
            continuation.resume(returning: 0x5EED)
            #expect(result.load(as: Int.self) == 0x5EED)
        }
        _ = loop.run(limit: .seconds(1)) { got != nil }
        #expect(got == 0x5EED)
    }
}
