import Crypto
import EventLoop
import Testing

@testable import Delivery

@Suite struct DuplicateMemoryTests {
    private func key(_ number: Int, target: UInt64 = 0) -> DuplicateMemory<Int>.Key {
        DuplicateMemory.Key(id: UUIDValue(high: 7, low: UInt64(number)), target: target)
    }

    private let now = MonotonicTime(nanoseconds: 0)

    @Test func aCopyOfOneOnItsWayIsSettledWithIt() {
        var memory = DuplicateMemory<Int>()
        #expect(memory.begin(key(1), round: 0, tag: 10, now: now) == .new)
        #expect(memory.begin(key(1), round: 0, tag: 11, now: now) == .joined)
        #expect(memory.begin(key(1), round: 1, tag: 12, now: now) == .joined)
        #expect(memory.finish(key(1), now: now) == [11, 12])
        #expect(memory.begin(key(1), round: 0, tag: 13, now: now) == .finished)
    }

    @Test func whatComesBackFromARetryQueueIsNoCopy() {
        var memory = DuplicateMemory<Int>()
        #expect(memory.begin(key(1), round: 0, tag: 1, now: now) == .new)
        #expect(memory.finish(key(1), now: now) == [])
        #expect(memory.begin(key(1), round: 1, tag: 2, now: now) == .new)
        #expect(memory.finish(key(1), now: now) == [])
        #expect(memory.begin(key(1), round: 0, tag: 3, now: now) == .finished, "the first delivery again")
        #expect(memory.begin(key(1), round: 1, tag: 4, now: now) == .finished)
        #expect(memory.begin(key(1), round: 2, tag: 5, now: now) == .new)
    }

    @Test func theSameIDForAnotherDeviceIsAnotherMessage() {
        var memory = DuplicateMemory<Int>()
        #expect(memory.begin(key(1, target: 1), round: 0, tag: 1, now: now) == .new)
        #expect(memory.begin(key(1, target: 2), round: 0, tag: 2, now: now) == .new)
    }

    @Test func whatWentBackUntoldIsNewWhenItComesAgain() {
        var memory = DuplicateMemory<Int>()
        #expect(memory.begin(key(1), round: 0, tag: 1, now: now) == .new)
        #expect(memory.begin(key(1), round: 0, tag: 2, now: now) == .joined)
        #expect(memory.abandon(key(1)) == [2])
        #expect(memory.begin(key(1), round: 0, tag: 3, now: now) == .new)
    }

    @Test func afterItsTimeAnIDMeansANewMessage() {
        var memory = DuplicateMemory<Int>(rememberedSeconds: 900)
        #expect(memory.begin(key(1), round: 0, tag: 1, now: now) == .new)
        #expect(memory.finish(key(1), now: now) == [])
        #expect(memory.begin(key(1), round: 0, tag: 2, now: now + .seconds(899)) == .finished)
        #expect(memory.begin(key(1), round: 0, tag: 3, now: now + .seconds(900)) == .new)
    }

    @Test func itForgetsTheOldestAndNeverOneOnItsWay() {
        var memory = DuplicateMemory<Int>(finishedMax: 10)
        #expect(memory.begin(key(0), round: 0, tag: 0, now: now) == .new)
        for number in 1...100 {
            #expect(memory.begin(key(number), round: 0, tag: number, now: now) == .new)
            #expect(memory.finish(key(number), now: now) == [])
        }
        #expect(memory.begin(key(90), round: 0, tag: 1, now: now) == .new)
        #expect(memory.begin(key(91), round: 0, tag: 1, now: now) == .finished)
        #expect(memory.begin(key(0), round: 0, tag: 1, now: now) == .joined)
    }

    @Test func oneThatFinishedAgainIsNotForgottenWithItsFirstPlace() {
        var memory = DuplicateMemory<Int>(finishedMax: 4)
        for (number, round) in [(1, 0), (2, 0), (3, 0), (1, 1), (4, 0)] {
            #expect(memory.begin(key(number), round: round, tag: 0, now: now) == .new)
            #expect(memory.finish(key(number), now: now) == [])
        }
        #expect(memory.begin(key(1), round: 1, tag: 0, now: now) == .finished)
    }
}
