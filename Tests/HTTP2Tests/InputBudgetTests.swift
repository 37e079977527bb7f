import EventLoop
import Testing

@testable import HTTP2

@Suite struct InputBudgetTests {
    private var budget = InputBudget(framesMax: 100, framesPerSecond: 10, now: Self.second(0))

    private static func second(_ count: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .seconds(count)
    }

    private mutating func spend(frames: Int) { for _ in 0..<frames { budget.spendFrame() } }

    private mutating func expect(isSpent: Bool, at second: Int64, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = budget.isSpent(at: Self.second(second))
        #expect(found == isSpent, sourceLocation: sourceLocation)
    }

    @Test mutating func idleFramesAreCounted() {
        spend(frames: 100)
        expect(isSpent: false, at: 0)
        spend(frames: 1)
        expect(isSpent: true, at: 0)
    }

    @Test mutating func bytesCountByTheKiB() {
        for _ in 0..<101 { budget.spend(bytes: 1000) }
        expect(isSpent: false, at: 0)
        budget.spend(bytes: 3000)
        expect(isSpent: true, at: 0)
    }

    @Test mutating func timeRefillsTheBudget() {
        spend(frames: 109)
        expect(isSpent: false, at: 1)
        spend(frames: 2)
        expect(isSpent: true, at: 1)
        // The budget never exceeds its initial value.
        expect(isSpent: false, at: 86_400)
        spend(frames: 100)
        expect(isSpent: false, at: 86_400)
        spend(frames: 1)
        expect(isSpent: true, at: 86_400)
    }

    // Each request models a push of the maximum size, with one header block, two DATA frames and one window update.
    @Test mutating func answeredRequestsCostNothing() {
        for _ in 0..<1000 {
            spend(frames: 4)
            budget.spend(bytes: 8000 + 5120)
            budget.streamEnded(wasAnswered: true, wasRefused: false, began: Self.second(0), at: Self.second(0))
            expect(isSpent: false, at: 0)
        }
    }

    @Test mutating func anImmediatelyResetStreamCosts() {
        for _ in 0..<4 {
            spend(frames: 5)
            budget.streamEnded(wasAnswered: false, wasRefused: false, began: Self.second(0), at: Self.second(0))
        }
        expect(isSpent: false, at: 0)
        spend(frames: 1)
        expect(isSpent: true, at: 0)
        // A stream that was reset after a wait costs nothing.
        budget.streamEnded(wasAnswered: false, wasRefused: false, began: Self.second(0), at: Self.second(1))
        expect(isSpent: false, at: 1)
    }

    @Test mutating func aRefusedStreamCostsOnlyItsFrames() {
        for _ in 0..<100 {
            spend(frames: 1)
            budget.streamEnded(wasAnswered: false, wasRefused: true, began: Self.second(0), at: Self.second(0))
        }
        expect(isSpent: false, at: 0)
        spend(frames: 1)
        expect(isSpent: true, at: 0)
    }
}
