import Testing

@testable import EventLoop

@Suite struct DeadlineTimerTests {
    private final class Owner {
        var firedAt: [Duration] = []
    }

    /// Returns the time from the start to each firing of the timer.
    private func fired(_ body: (VirtualLoop, @escaping (Int64) -> Void, DeadlineTimer) -> Void) -> [Duration] {
        let loop = VirtualLoop(seed: 1)
        // The loop runs on the test's thread.
        nonisolated(unsafe) let owner = Owner()
        loop.enter {
            let start = loop.now.monotonic
            let timer = DeadlineTimer(on: loop)
            let arm = { (seconds: Int64) in
                timer.arm(at: start.adding(seconds: seconds), for: owner) {
                    $0.firedAt.append(start.duration(to: loop.now.monotonic))
                }
            }
            body(loop, arm, timer)
        }
        #expect(loop.run(limit: .seconds(60), until: { false }) == .idle)
        return owner.firedAt
    }

    @Test func firesOnceAtTheEarliestDeadline() {
        let fired = fired { _, arm, _ in for seconds: Int64 in [5, 3, 4] { arm(seconds) } }
        #expect(fired == [.seconds(3)])
    }

    @Test func canBeArmedAfterItFired() {
        let fired = fired { loop, arm, _ in
            arm(1)
            loop.schedule(after: .seconds(2)) { arm(7) }
        }
        #expect(fired == [.seconds(1), .seconds(7)])
    }

    @Test func doesNotFireOnceCanceled() {
        let fired = fired { _, arm, timer in
            arm(1)
            timer.cancel()
            arm(2)
        }
        #expect(fired == [.seconds(2)])
    }
}
