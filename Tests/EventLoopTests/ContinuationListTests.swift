import Testing

@testable import EventLoop

@Suite struct ContinuationListTests {
    /// The values that two tasks get, which wait at most one and two seconds.
    private func values(_ resume: @escaping (EventLoop, ContinuationList<Int>) -> Void) -> [Int] {
        let loop = VirtualLoop(seed: 1)
        // The loop runs on the test's own thread.
        nonisolated(unsafe) var values: [Int] = []
        nonisolated(unsafe) let list = ContinuationList<Int>()
        loop.enter {
            for seconds in 1...2 {
                _ = Task(executorPreference: loop) {
                    values.append(await list.wait(on: loop, for: .seconds(seconds)) { -seconds })
                }
            }
            resume(loop, list)
        }
        #expect(loop.run(limit: .seconds(60), until: { false }) == .idle)
        return values
    }

    @Test func resumesTasksWithTheValueOrAtTheirDeadline() {
        #expect(values { _, _ in } == [-1, -2])
        let values = values { loop, list in loop.schedule(after: .seconds(1.5)) { list.resume(returning: 7) } }
        #expect(values == [-1, 7])
    }

    @Test func resumesEachTaskOnceAtItsDeadline() {
        let first = values { loop, list in loop.schedule(after: .seconds(1)) { list.resume(returning: 7) } }
        #expect(first == [7, 7])
        let second = values { loop, list in
            loop.schedule(after: .seconds(0.5)) {
                loop.schedule(after: .seconds(0.5)) { list.resume(returning: 7) }
            }
        }
        #expect(second == [-1, 7])
    }
}
