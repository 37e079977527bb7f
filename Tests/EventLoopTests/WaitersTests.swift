import Testing

@testable import EventLoop

@Suite struct WaitersTests {
    /// What each of two is told, who wait for one second and for two.
    private func told(_ resume: @escaping (EventLoop, Waiters<Int>) -> Void) -> [Int] {
        let loop = VirtualLoop(seed: 1)
        // The loop runs on the test's own thread.
        nonisolated(unsafe) var told: [Int] = []
        // For one loop's thread, which that is.
        nonisolated(unsafe) let waiters = Waiters<Int>()
        loop.enter {
            for seconds in 1...2 {
                _ = Task(executorPreference: loop) {
                    told.append(await waiters.wait(on: loop, for: .seconds(seconds)) { -seconds })
                }
            }
            resume(loop, waiters)
        }
        #expect(loop.run(limit: .seconds(60), until: { false }) == .idle)
        return told
    }

    @Test func whoeverWaitsIsToldAtOnceAndWhoIsLateByItself() {
        #expect(told { _, _ in } == [-1, -2])
        let told = told { loop, waiters in loop.schedule(after: .seconds(1.5)) { waiters.resume(returning: 7) } }
        #expect(told == [-1, 7])
    }

    @Test func whoWaitsIsToldOnceWhateverComesAtTheDeadline() {
        let first = told { loop, waiters in loop.schedule(after: .seconds(1)) { waiters.resume(returning: 7) } }
        #expect(first == [7, 7])
        let second = told { loop, waiters in
            loop.schedule(after: .seconds(0.5)) {
                loop.schedule(after: .seconds(0.5)) { waiters.resume(returning: 7) }
            }
        }
        #expect(second == [-1, 7])
    }
}
