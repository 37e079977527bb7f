import Crypto
import EventLoop
import Testing

@testable import Delivery

@Suite struct DuplicateMemoryTests {
    private func id(_ number: Int) -> UUIDValue { UUIDValue(high: 7, low: UInt64(number)) }

    @Test func aCopyOfOneOnItsWayIsSettledWithIt() {
        var memory = DuplicateMemory<Int>()
        #expect(memory.begin(id(1), attempt: 0, tag: 10) == .new)
        #expect(memory.begin(id(1), attempt: 0, tag: 11) == .joined)
        #expect(memory.begin(id(1), attempt: 1, tag: 12) == .joined)
        #expect(memory.finish(id(1)) == [11, 12])
        #expect(memory.begin(id(1), attempt: 0, tag: 13) == .finished)
    }

    @Test func aRetryIsALaterTryAndNoCopy() {
        var memory = DuplicateMemory<Int>()
        #expect(memory.begin(id(1), attempt: 0, tag: 1) == .new)
        #expect(memory.finish(id(1)) == [])
        #expect(memory.begin(id(1), attempt: 1, tag: 2) == .new)
        #expect(memory.finish(id(1)) == [])
        #expect(memory.begin(id(1), attempt: 0, tag: 3) == .finished, "the first try, delivered again")
        #expect(memory.begin(id(1), attempt: 1, tag: 4) == .finished)
        #expect(memory.begin(id(1), attempt: 2, tag: 5) == .new)
    }

    @Test func whatWentBackUntoldIsNewWhenItComesAgain() {
        var memory = DuplicateMemory<Int>()
        #expect(memory.begin(id(1), attempt: 0, tag: 1) == .new)
        #expect(memory.begin(id(1), attempt: 0, tag: 2) == .joined)
        #expect(memory.abandon(id(1)) == [2])
        #expect(memory.begin(id(1), attempt: 0, tag: 3) == .new)
    }

    @Test func itForgetsTheOldestAndNeverOneOnItsWay() {
        var memory = DuplicateMemory<Int>(finishedMax: 10)
        #expect(memory.begin(id(0), attempt: 0, tag: 0) == .new)
        for number in 1...100 {
            #expect(memory.begin(id(number), attempt: 0, tag: number) == .new)
            #expect(memory.finish(id(number)) == [])
        }
        #expect(memory.begin(id(90), attempt: 0, tag: 1) == .new)
        #expect(memory.begin(id(91), attempt: 0, tag: 1) == .finished)
        #expect(memory.begin(id(0), attempt: 0, tag: 1) == .joined)
    }
}
