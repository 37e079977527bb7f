import Testing

@testable import EventLoop

@Suite struct ContinuationListTests {
    /// Returns the values of two tasks, one of which waits at most one second and the other at most two seconds.
    private func values(_ resume: @escaping (EventLoop, ContinuationList<Int>) -> Void) -> [Int] {
        let loop = VirtualLoop(seed: 1)
        // The loop runs on the test's thread.
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

    @Test func tasksWaitWithoutALimitBesideThoseThatHaveOne() {
        let loop = VirtualLoop(seed: 1)
        nonisolated(unsafe) var values: [String] = []
        nonisolated(unsafe) let list = ContinuationList<Int>()
        loop.enter {
            for name in ["a", "b"] {
                _ = Task(executorPreference: loop) { values.append("\(name)\(await list.wait())") }
            }
            _ = Task(executorPreference: loop) {
                values.append("c\(await list.wait(on: loop, for: .seconds(1)) { -1 })")
            }
            loop.schedule(after: .seconds(5000)) { list.resume(returning: 7) }
            // No task waits at this time.
            loop.schedule(after: .seconds(6000)) { list.resume(returning: 8) }
        }
        #expect(loop.run(limit: .seconds(9000), until: { false }) == .idle)
        #expect(values == ["c-1", "a7", "b7"])
    }
}
