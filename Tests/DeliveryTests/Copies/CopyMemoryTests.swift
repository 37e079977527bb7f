import Crypto
import EventLoop
import Testing

@testable import Delivery

@Suite struct CopyMemoryTests {
    private let memory = CopyMemory()
    private let accepted = Verdict.conclude(Conclusion(outcome: .accepted))
    private let rejected = Verdict.conclude(Conclusion(outcome: .rejected))
    private let waits = Verdict.wait(Wait(delay: WaitDelay(seconds: 5), attempts: Attempts(), reason: "x"))

    private func key(_ number: UInt64 = 1, app: Int = 0, body: String = "body") -> CopyKey {
        memory.key(id: UUIDValue(high: 7, low: number), app: app, body: Array(body.utf8))
    }

    private func seconds(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private func begin(
        _ key: CopyKey, _ channel: CopyMemory.Channel, waitID: UInt16 = 0, isQuarantined: Bool = false,
        isRedelivered: Bool = false
    ) -> CopyMemory.Admission {
        memory.begin(
            key, on: channel, after: WaitMark(waitID: waitID, isQuarantined: isQuarantined),
            isRedelivered: isRedelivered)
    }

    @Test func whatWasAcceptedIsNotPushedAgainWhereverItComesFrom() {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.settle(key(), accepted, now: seconds(0))
        #expect(begin(key(), channel) == .accepted)
        #expect(begin(key(), channel, waitID: 1) == .accepted)
        #expect(begin(key(), memory.openChannel(), isRedelivered: true) == .accepted)
    }

    @Test func aRedriveIsANewTry() {
        let channel = memory.openChannel()
        for verdict in [rejected, waits] {
            #expect(begin(key(), channel) == .first)
            memory.settle(key(), verdict, now: seconds(0))
        }
        #expect(begin(key(), channel, waitID: 1) == .first)
    }

    @Test func anotherBodyOrAppIsAnotherMessage() {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.settle(key(), accepted, now: seconds(0))
        #expect(begin(key(body: "bodY"), channel) == .first)
        #expect(begin(key(app: 1), channel) == .first)
        #expect(begin(key(2), channel) == .first)
        #expect(Set((0..<40).map { key(body: String(repeating: "x", count: $0)) }).count == 40)
    }

    @Test func aCopyOfOneOnItsWaySharesItsVerdict() async {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        #expect(begin(key(), channel) == .copy)
        #expect(begin(key(), memory.openChannel(), isRedelivered: true) == .copy, "its channel lives")
        async let copies = [memory.verdict(on: key()), memory.verdict(on: key())]
        try? await Task.sleep(for: .milliseconds(1))
        memory.settle(key(), rejected, now: seconds(0))
        for verdict in await copies { #expect(verdict == rejected || verdict == nil, "nil: it asked too late") }
    }

    @Test func whatWasGivenBackBeginsAnew() async {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.forget(key())
        #expect(await memory.verdict(on: key()) == nil)
        #expect(begin(key(), channel) == .first)
    }

    @Test func whatALostChannelHeldTakesThePlaceOfTheFirst() async {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.lose(lost, now: seconds(1))
        #expect(begin(key(), next) == .copy, "published anew by its producer: the broker does not say redelivered")
        #expect(begin(key(), next, isRedelivered: true) == .redelivery)
        async let verdict = memory.verdict(on: key(), replacing: CopyTable.Held(channel: next, mark: .none))
        for _ in 0..<10_000 where begin(key(), next, isRedelivered: true) == .redelivery { await Task.yield() }
        #expect(begin(key(), next, isRedelivered: true) == .copy, "there is one in its place")
        memory.lose(next, now: seconds(2))
        #expect(begin(key(), memory.openChannel(), isRedelivered: true) == .redelivery, "that was lost, too")
        memory.settle(key(), rejected, now: seconds(3))
        #expect(await verdict == rejected)
        #expect(begin(key(), memory.openChannel(), isRedelivered: true) == .done, "told after the channel was lost")
    }

    @Test func aRedeliveryThatAsksTooLateIsStillKnown() async {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.lose(lost, now: seconds(1))
        #expect(begin(key(), next, isRedelivered: true) == .redelivery)
        memory.settle(key(), rejected, now: seconds(2))
        #expect(await memory.verdict(on: key(), replacing: CopyTable.Held(channel: next, mark: .none)) == nil)
        #expect(begin(key(), next, isRedelivered: true) == .done)
    }

    @Test func whatWasToldBeforeItsChannelWasLostIsAcknowledgedOnce() {
        for verdict in [accepted, rejected, waits] {
            let (lost, next) = (memory.openChannel(), memory.openChannel())
            #expect(begin(key(), lost) == .first)
            memory.settle(key(), verdict, now: seconds(100))
            memory.lose(lost, now: seconds(104))
            #expect(begin(key(), next, isRedelivered: true) == .done)
            #expect(begin(key(), next, isRedelivered: true) != .done)
            memory.forget(key())
        }
    }

    @Test func aWaitThatIsBackBeforeItsConfirmIsNoCopy() async {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.sendToWait(key(), waitID: 7)
        #expect(begin(key(), channel, waitID: 7) == .redelivery)
        let early = CopyTable.Held(channel: channel, mark: WaitMark(waitID: 7, isQuarantined: false))
        async let verdict = memory.verdict(on: key(), replacing: early)
        for _ in 0..<100 { await Task.yield() }
        #expect(begin(key(), channel, waitID: 8) == .copy)
        memory.settle(key(), waits, now: seconds(0))
        _ = await verdict
        #expect(begin(key(), channel, waitID: 7) == .first, "the one that was confirmed")
        memory.settle(key(), accepted, now: seconds(0))
        #expect(begin(key(), channel, waitID: 7) == .done)
    }

    @Test func withCopiesAroundARedeliveryIsInDoubt() {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        #expect(begin(key(), lost) == .copy)
        memory.settle(key(), accepted, now: seconds(100))
        memory.lose(lost, now: seconds(104))
        #expect(begin(key(), next, isRedelivered: true) == .accepted)
    }

    @Test func inDoubtItIsTold() {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        memory.lose(lost, now: seconds(106))
        #expect(begin(key(), next, isRedelivered: true) == .accepted, "its acknowledgement had the time to arrive")

        #expect(begin(key(2), lost) == .first)
        memory.settle(key(2), waits, now: seconds(160))
        #expect(begin(key(2), next, waitID: 1, isRedelivered: true) == .first, "it waited since")
        memory.settle(key(2), waits, now: seconds(162))
        #expect(begin(key(2), next, waitID: 1) == .done, "its publish was repeated")
        #expect(begin(key(2), next, waitID: 2) == .first)
    }

    @Test func whatMovedToTheQuarantineIsKnownThere() {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.settle(key(), rejected, now: seconds(0))
        #expect(begin(key(2), lost) == .first)
        #expect(begin(key(2), next, isQuarantined: true) == .copy)
        memory.lose(lost, now: seconds(1))
        #expect(begin(key(), next, isQuarantined: true) == .done, "it was told before it moved")
        #expect(begin(key(), next, isQuarantined: true) == .done, "and was moved twice")
        #expect(begin(key(2), next, isQuarantined: true) == .redelivery)
        #expect(begin(key(2), next, isQuarantined: true) == .redelivery)
    }

    @Test func theOldestMakeRoomAndNoSooner() {
        let memory = CopyMemory(settledMax: 1600)
        let channel = memory.openChannel()
        func key(_ number: UInt64) -> CopyKey { memory.key(id: UUIDValue(high: 1, low: number), app: 0, body: [1]) }
        func begin(_ number: UInt64) -> CopyMemory.Admission {
            memory.begin(key(number), on: channel, after: .none, isRedelivered: false)
        }
        for number in 0..<10_000 as Range<UInt64> {
            #expect(begin(number) == .first)
            memory.settle(key(number), accepted, now: seconds(0))
        }
        let remembered = (0..<10_000 as Range<UInt64>).map { number in
            let isRemembered = begin(number) == .accepted
            if !isRemembered { memory.forget(key(number)) }
            return isRemembered
        }
        #expect(remembered.suffix(1000).allSatisfy { $0 })
        #expect(remembered.count { $0 } < 2000)
        #expect(remembered.prefix(5000).allSatisfy { !$0 })
    }
}
