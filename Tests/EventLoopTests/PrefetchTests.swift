import Testing

@testable import EventLoop

@Suite struct PrefetchTests {
    private typealias Continuation = UnsafeContinuation<Int, Never>

    /// What is fetched ahead of a resumption is what the runtime follows then: what it writes stands where it is looked for.
    @Test func theRuntimesRecordsAreWhereTheyAreLookedFor() throws {
        let loop = VirtualLoop(seed: 1)
        nonisolated(unsafe) var waiting: Continuation?
        nonisolated(unsafe) var got: Int?
        loop.enter {
            _ = Task(executorPreference: loop) { got = await withUnsafeContinuation { waiting = $0 } }
        }
        _ = loop.run(limit: .seconds(1)) { waiting != nil }
        let continuation = try #require(waiting)
        loop.enter {
            continuation.prefetchTask()
            continuation.prefetchContext()
            let task = unsafeBitCast(continuation, to: UnsafeRawPointer.self)
            let context = task.load(fromByteOffset: Continuation.contextOffset, as: UnsafeRawPointer.self)
            let result = context.load(fromByteOffset: Continuation.resultOffset, as: UnsafeRawPointer.self)
            continuation.resume(returning: 0x5EED)
            #expect(result.load(as: Int.self) == 0x5EED)
        }
        _ = loop.run(limit: .seconds(1)) { got != nil }
        #expect(got == 0x5EED)
    }
}
