import EventLoop
import Testing

@testable import Delivery

@Suite struct LostChannelsTests {
    private func time(_ number: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(number)) }

    private func channel(_ number: Int) -> DuplicateMemory.Channel {
        DuplicateMemory.Channel(number: UInt16(truncatingIfNeeded: number))
    }

    private func known(_ lost: LostChannels, _ numbers: Range<Int>) -> [Int] {
        numbers.filter { lost.time(of: channel($0)) != nil }
    }

    @Test func theLastLostChannelsAreRemembered() {
        var lost = LostChannels()
        for number in 0..<1000 { lost.add(channel(number), at: time(number)) }
        #expect(known(lost, 0..<1000) == Array((1000 - LostChannels.countMin)..<1000))
        #expect(lost.time(of: channel(999)) == time(999))
        lost.expect(channels: 1)
        #expect(lost.countMax == LostChannels.countMin)
    }

    @Test func aHigherBoundForgetsNoChannel() {
        var lost = LostChannels()
        for number in 0..<300 { lost.add(channel(number), at: time(number)) }
        lost.expect(channels: 100)
        for number in 300..<444 { lost.add(channel(number), at: time(number)) }
        #expect(known(lost, 0..<444) == Array(44..<444))
        lost.add(channel(444), at: time(444))
        #expect(known(lost, 0..<445) == Array(45..<445))
    }

    @Test func reusedNumbersAreNotConfused() {
        var lost = LostChannels()
        lost.expect(channels: .max)
        #expect(lost.countMax == LostChannels.countLimit)
        for number in 0..<100_000 { lost.add(channel(number), at: time(number)) }
        let remembered = (100_000 - LostChannels.countLimit)..<100_000
        #expect(remembered.allSatisfy { lost.time(of: channel($0)) == time($0) })
        #expect(known(lost, 0..<1 << 16).count == LostChannels.countLimit)
    }
}
