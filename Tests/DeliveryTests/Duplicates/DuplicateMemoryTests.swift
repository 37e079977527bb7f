import AMQP
import BrokerTopology
import Crypto
import EventLoop
import TestKit
import Testing

@testable import Delivery

@Suite struct DuplicateMemoryTests {
    private let memory = DuplicateMemory()
    private let accepted = Verdict.conclude(FinalOutcome(outcome: .accepted))
    private let rejected = Verdict.conclude(FinalOutcome(outcome: .rejected))
    private let waits = Verdict.wait(Wait(delay: WaitDelay(seconds: 5), attempts: Attempts(), reason: "x"))

    private func key(_ number: UInt64 = 1, body: String = "body") -> DeduplicationKey {
        memory.key(id: UUIDValue(high: 7, low: number), body: Array(body.utf8))
    }

    private func seconds(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private func begin(
        _ key: DeduplicationKey, _ channel: DuplicateMemory.Channel, waitID: UInt32 = 0, before: UInt32? = nil,
        isRedelivered: Bool = false, count: UInt8 = 0
    ) -> DuplicateMemory.Admission {
        memory.begin(
            key, arrival(channel, waitID: waitID, before: before, isRedelivered: isRedelivered, count: count))
    }

    private func arrival(
        _ channel: DuplicateMemory.Channel, waitID: UInt32 = 0, before: UInt32? = nil, movedAt: MonotonicTime? = nil,
        isRedelivered: Bool = false, count: UInt8 = 0, fingerprint: UInt32 = 0
    ) -> DuplicateCandidate {
        DuplicateCandidate(
            channel: channel, waitID: waitID, waitIDBefore: before, movedAt: movedAt, isRedelivered: isRedelivered,
            deliveryCount: count, fingerprint: fingerprint)
    }

    /// Returns a task that waits for the end of the first delivery. The task joins the delivery before this function
    /// returns.
    private func ending(_ key: DeduplicationKey, _ arrival: DuplicateCandidate) -> Task<
        DuplicateMemory.FirstEnd?, Never
    > {
        Task.immediate { [memory] in await memory.ending(of: key, arrival) }
    }

    @Test func anAcceptedRequestIsNotPushedAgainFromAnySource() {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.settle(key(), accepted, now: seconds(0))
        #expect(begin(key(), channel) == .accepted)
        #expect(begin(key(), channel, waitID: 1) == .accepted)
        #expect(begin(key(), memory.openChannel(), isRedelivered: true) == .accepted)
    }

    // Four lanes with 64 shards and the quarantine, in several successive outages.
    @Test func anOutageLosesTheChannelsOfAllLanes() {
        let consumers = 4 * 65
        memory.expect(channels: consumers)
        let channels = (0..<consumers).map { _ in memory.openChannel() }
        for (number, channel) in channels.enumerated() {
            #expect(begin(key(UInt64(number)), channel) == .first)
            memory.settle(key(UInt64(number)), accepted, now: seconds(0))
        }
        for channel in channels { memory.lose(channel, now: seconds(1)) }
        for _ in 1..<LostChannels.outagesMax {
            for _ in channels { memory.lose(memory.openChannel(), now: seconds(2)) }
        }
        let next = memory.openChannel()
        for number in channels.indices {
            #expect(begin(key(UInt64(number)), next, isRedelivered: true, count: 1) == .settled)
        }
    }

    @Test func aRedriveIsANewAttempt() {
        let channel = memory.openChannel()
        for verdict in [rejected, waits] {
            #expect(begin(key(), channel) == .first)
            memory.settle(key(), verdict, now: seconds(0))
        }
        #expect(begin(key(), channel, waitID: 1) == .first)
    }

    // A redrive is a round, identified by its dead letter (decision 14).
    @Test func aRepeatedRedriveIsSettledAndAnotherRedriveIsANewAttempt() {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.settle(key(), rejected, now: seconds(0))
        for (name, verdict) in [(UInt32(7), rejected), (8, waits), (9, accepted)] {
            #expect(begin(key(), channel, waitID: name) == .first)
            memory.settle(key(), verdict, now: seconds(0))
            #expect(begin(key(), memory.openChannel(), waitID: name) == .settled)
        }
        // Further publishes of the accepted request are duplicates, not repeats of the last redrive.
        #expect(begin(key(), channel, waitID: 10) == .accepted)
        #expect(begin(key(), channel) == .accepted)
    }

    @Test func anotherBodyIsAnotherRequest() {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.settle(key(), accepted, now: seconds(0))
        #expect(begin(key(body: "bodY"), channel) == .first)
        #expect(begin(key(2), channel) == .first)
        #expect(Set((0..<40).map { key(body: String(repeating: "x", count: $0)) }).count == 40)
    }

    @Test func everyByteOfABodyChangesTheKey() {
        for count in 0...40 {
            let body = (0..<count).map { UInt8($0) + 1 }
            let own = memory.key(id: UUIDValue(high: 1, low: 1), body: body)
            for place in body.indices {
                var other = body
                other[place] ^= 0x40
                #expect(memory.key(id: UUIDValue(high: 1, low: 1), body: other) != own, "\(place) of \(count)")
            }
            guard count >= 16 else { continue }
            let turned = Array(body[8..<16] + body[..<8] + body[16...])
            #expect(memory.key(id: UUIDValue(high: 1, low: 1), body: turned) != own, "words of \(count)")
        }
    }

    @Test func aDuplicateOfADeliveryInFlightSharesItsVerdict() async {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        #expect(begin(key(), channel) == .inFlight)
        let duplicates = [
            ending(key(), arrival(channel)), ending(key(), arrival(memory.openChannel(), isRedelivered: true)),
        ]
        memory.settle(key(), rejected, now: seconds(0))
        for duplicate in duplicates { #expect(await duplicate.value == .shared(rejected), "the verdict differs") }
    }

    @Test func aRequeuedRequestBeginsAgain() async {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        let duplicate = ending(key(), arrival(channel))
        memory.forget(key())
        #expect(await duplicate.value == nil)
        #expect(await memory.ending(of: key(), arrival(channel)) == nil)
        #expect(begin(key(), channel) == .first)
    }

    @Test func aRedeliveryAfterALostChannelReplacesTheFirst() async {
        let (lost, next, last) = (memory.openChannel(), memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.lose(lost, now: seconds(1))
        let republished = ending(key(), arrival(next))
        let again = ending(key(), arrival(next, isRedelivered: true))
        let another = ending(key(), arrival(next, isRedelivered: true))
        memory.lose(next, now: seconds(2))
        let lastOne = ending(key(), arrival(last, isRedelivered: true))
        memory.settle(key(), rejected, now: seconds(3))
        #expect(await republished.value == .shared(rejected), "a second publish did not share the verdict")
        #expect(await again.value == .same)
        #expect(await another.value == .shared(rejected), "a second redelivery did not share the verdict")
        #expect(await lastOne.value == .same, "the last redelivery was not recognized")
        memory.lose(last, now: seconds(4))
        #expect(begin(key(), memory.openChannel(), isRedelivered: true) == .first, "a duplicate was treated as settled")
    }

    @Test func aRedeliveryAfterTheFirstEndedIsRecognized() async {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.lose(lost, now: seconds(1))
        #expect(begin(key(), next, isRedelivered: true) == .inFlight)
        memory.settle(key(), rejected, now: seconds(2))
        #expect(await memory.ending(of: key(), arrival(next, isRedelivered: true)) == nil)
        #expect(begin(key(), next, isRedelivered: true) == .settled)
    }

    @Test func aRequestSettledBeforeItsChannelWasLostIsAcknowledgedOnce() {
        for verdict in [accepted, rejected, waits] {
            let (lost, next) = (memory.openChannel(), memory.openChannel())
            #expect(begin(key(), lost) == .first)
            memory.settle(key(), verdict, now: seconds(100))
            memory.lose(lost, now: seconds(104))
            #expect(begin(key(), next, isRedelivered: true) == .settled)
            #expect(begin(key(), next, isRedelivered: true) != .settled)
            memory.forget(key())
        }
    }

    @Test(arguments: [(255, DuplicateMemory.Admission.settled), (256, .accepted)])
    func longLostChannelsAreForgotten(_ others: Int, _ admission: DuplicateMemory.Admission) {
        let lost = memory.openChannel()
        #expect(begin(key(), lost) == .first)
        memory.settle(key(), accepted, now: seconds(0))
        memory.lose(lost, now: seconds(1))
        for _ in 0..<others { memory.lose(memory.openChannel(), now: seconds(1)) }
        #expect(begin(key(), memory.openChannel(), isRedelivered: true) == admission)
    }

    // A redrive was interrupted and repeated, and then the broker closed the channel.
    @Test(arguments: [true, false])
    func bothPublishesOfARoundAreRecognizedAfterTheirChannelWasLost(theFirstHasEnded: Bool) async {
        for verdict in [accepted, rejected, waits] {
            let (lost, next) = (memory.openChannel(), memory.openChannel())
            #expect(begin(key(), lost, waitID: 7) == .first)
            let repeated = theFirstHasEnded ? nil : ending(key(), arrival(lost, waitID: 7))
            memory.settle(key(), verdict, now: seconds(100))
            if let repeated { #expect(await repeated.value == .same) }
            if theFirstHasEnded { #expect(begin(key(), lost, waitID: 7) == .settled) }
            memory.lose(lost, now: seconds(101))
            #expect(begin(key(), next, waitID: 7, isRedelivered: true, count: 1) == .settled)
            #expect(begin(key(), next, waitID: 7, isRedelivered: true, count: 1) == .settled)
            #expect(
                begin(key(), next, waitID: 7, isRedelivered: true, count: 1) != .settled, "a third publish was settled")
            memory.forget(key())
        }
    }

    // The two publishes may have arrived in different lanes.
    @Test(arguments: [true, false], [true, false])
    func eachPublishOfARoundIsRecognizedAfterItsOwnChannelWasLost(theFirstHasEnded: Bool, isTheFirstLost: Bool) async {
        for verdict in [accepted, rejected, waits] {
            let (first, second, next) = (memory.openChannel(), memory.openChannel(), memory.openChannel())
            #expect(begin(key(), first, waitID: 7) == .first)
            let repeated = ending(key(), arrival(second, waitID: 7))
            if theFirstHasEnded { memory.settle(key(), verdict, now: seconds(100)) }
            memory.lose(isTheFirstLost ? first : second, now: seconds(101))
            let again = arrival(next, waitID: 7, isRedelivered: true, count: 1)
            if theFirstHasEnded {
                #expect(memory.begin(key(), again) == .settled)
            } else {
                let same = ending(key(), again)
                memory.settle(key(), verdict, now: seconds(102))
                #expect(await same.value == .same)
            }
            #expect(await repeated.value == .same)
            #expect(memory.begin(key(), again) != .settled, "a delivery on an open channel was settled")
            memory.forget(key())
        }
    }

    // Each channel is lost before the acknowledgments are sent.
    @Test func bothPublishesOfARoundAreRecognizedAfterRepeatedLosses() {
        for verdict in [accepted, rejected, waits] {
            var channel = memory.openChannel()
            #expect(begin(key(), channel, waitID: 7) == .first)
            memory.settle(key(), verdict, now: seconds(100))
            #expect(begin(key(), channel, waitID: 7) == .settled)
            for count in 1...3 as ClosedRange<UInt8> {
                memory.lose(channel, now: seconds(101))
                channel = memory.openChannel()
                for _ in 0..<2 {
                    #expect(begin(key(), channel, waitID: 7, isRedelivered: true, count: count) == .settled)
                }
            }
            #expect(begin(key(), channel, waitID: 7, isRedelivered: true, count: 3) != .settled)
            memory.forget(key())
        }
    }

    // If a request is published twice, the memory keeps the channels of both deliveries.
    @Test func eachOfTwoPublishesIsRecognizedByItsOwnChannel() {
        let (first, second) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), first, waitID: 7) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        #expect(begin(key(), second, waitID: 7) == .settled)
        for lost in [second, first] {
            memory.lose(lost, now: seconds(101))
            #expect(begin(key(), memory.openChannel(), waitID: 7, isRedelivered: true, count: 1) == .settled)
        }
    }

    // The second publish arrived on a channel that stayed open for longer than an acknowledgment takes.
    @Test func theSecondPublishOfARoundIsADuplicateIfItsChannelIsLostLate() {
        let (first, second) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), first, waitID: 7) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        #expect(begin(key(), second, waitID: 7) == .settled)
        memory.lose(second, now: seconds(106))
        #expect(begin(key(), memory.openChannel(), waitID: 7, isRedelivered: true, count: 1) == .accepted)
    }

    @Test func aRequestThatReturnsFromAWaitIsNoDuplicate() {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.settle(key(), waits, now: seconds(90))
        #expect(begin(key(), channel, waitID: 7) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        memory.lose(channel, now: seconds(104))
        #expect(begin(key(), memory.openChannel(), waitID: 7, isRedelivered: true, count: 1) == .settled)
    }

    @Test func aRequestThatReturnsBeforeItsConfirmIsDeliveredAfterIt() async {
        let channel = memory.openChannel()
        #expect(begin(key(), channel) == .first)
        memory.sendToWait(key(), waitID: 7)
        let early = ending(key(), arrival(channel, waitID: 7))
        let other = ending(key(), arrival(channel, waitID: 8))
        memory.settle(key(), waits, now: seconds(0))
        #expect(await early.value == nil, "an early delivery did not begin again")
        #expect(await other.value == .shared(waits))
        #expect(begin(key(), channel, waitID: 7) == .first)
        let repeated = ending(key(), arrival(channel, waitID: 7))
        memory.settle(key(), accepted, now: seconds(0))
        #expect(await repeated.value == .same)
        #expect(begin(key(), channel, waitID: 7) == .settled)
    }

    @Test func aRedeliveryAmongDuplicatesIsADuplicate() {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        _ = ending(key(), arrival(lost))
        memory.settle(key(), accepted, now: seconds(100))
        memory.lose(lost, now: seconds(104))
        #expect(begin(key(), next, isRedelivered: true) == .accepted)
    }

    @Test func aDuplicateAfterTheEndIsRecognized() {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        #expect(begin(key(), lost) == .accepted)
        memory.lose(lost, now: seconds(104))
        #expect(begin(key(), next, isRedelivered: true) == .accepted)
    }

    @Test(arguments: [0, 7] as [UInt32]) func aDeliveryThatAnotherProcessHadIsADuplicate(waitID: UInt32) async {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        for number in 1...2 as ClosedRange<UInt64> {
            #expect(begin(key(number), lost, waitID: waitID, count: 1) == .first)
        }
        memory.settle(key(), accepted, now: seconds(1))
        memory.lose(lost, now: seconds(1))
        let coming = arrival(next, waitID: waitID, isRedelivered: true, count: 3)
        #expect(memory.begin(key(), coming) == .accepted, "a push of another process was ignored")
        let shared = ending(key(2), coming)
        let same = ending(key(2), arrival(next, waitID: waitID, isRedelivered: true, count: 2))
        memory.settle(key(2), accepted, now: seconds(2))
        #expect(await shared.value == .shared(accepted))
        #expect(await same.value == .same)
    }

    // No id distinguishes several publishes of one request that has not waited (seed 67276).
    @Test func aRequestThatMovedBeforeTheLossIsAnotherDelivery() async {
        let channel = memory.openChannel()
        #expect(begin(key(), channel, isRedelivered: true, count: 2) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        #expect(begin(key(2), channel, isRedelivered: true, count: 2) == .first)
        memory.lose(channel, now: seconds(101))
        let next = memory.openChannel()
        func moved(_ second: Int64) -> DuplicateCandidate {
            arrival(next, waitID: UInt32(second), before: 0, movedAt: seconds(second), count: 3)
        }
        let duplicate = ending(key(2), moved(99))
        let same = ending(key(2), moved(102))
        memory.settle(key(2), accepted, now: seconds(103))
        #expect(await duplicate.value == .shared(accepted))
        #expect(await same.value == .same)
        #expect(memory.begin(key(), moved(99)) == .accepted)
        #expect(memory.begin(key(3), moved(99)) == .first)
    }

    @Test func aRequestThatMovedAfterTheLossIsTheSameDelivery() {
        let channel = memory.openChannel()
        #expect(begin(key(), channel, isRedelivered: true, count: 2) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        memory.lose(channel, now: seconds(101))
        let moved = arrival(memory.openChannel(), waitID: 7, before: 0, movedAt: seconds(102), count: 3)
        #expect(memory.begin(key(), moved) == .settled)
    }

    // Otherwise APNs could accept a request twice without a result that is marked as a possible duplicate (seed 2188 of
    // the simulation).
    @Test func aDeliveryThatAnotherProcessHadInTheQuarantineIsADuplicate() {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost, count: 2) == .first)
        memory.settle(key(), accepted, now: seconds(1))
        memory.lose(lost, now: seconds(1))
        #expect(begin(key(), next, waitID: 3, before: 0, isRedelivered: true, count: 1) == .accepted)
        #expect(begin(key(), next, waitID: 3, before: 0, count: 3) == .settled, "the moved delivery was not recognized")
    }

    @Test func anUncertainDeliveryIsADuplicate() {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.settle(key(), accepted, now: seconds(100))
        memory.lose(lost, now: seconds(106))
        #expect(begin(key(), next, isRedelivered: true) == .accepted, "an old settlement was treated as lost")

        #expect(begin(key(2), lost) == .first)
        memory.settle(key(2), waits, now: seconds(160))
        #expect(begin(key(2), next, waitID: 1, isRedelivered: true) == .first, "a returned request was ignored")
        memory.settle(key(2), waits, now: seconds(162))
        #expect(begin(key(2), next, waitID: 1) == .settled, "a repeated publish was not recognized")
        #expect(begin(key(2), next, waitID: 2) == .first)
    }

    @Test func aRequestIsRecognizedInTheQuarantine() async {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(begin(key(), lost) == .first)
        memory.settle(key(), rejected, now: seconds(0))
        #expect(begin(key(2), lost) == .first)
        let early = ending(key(2), arrival(next, waitID: 5, before: 0))
        memory.lose(lost, now: seconds(1))
        #expect(begin(key(), next, waitID: 3, before: 0) == .settled, "a settled request was not recognized")
        #expect(begin(key(), next, waitID: 3, before: 0) == .settled, "a second move was not recognized")
        #expect(begin(key(), next, waitID: 4, before: 0) == .first, "a moved duplicate was not processed")
        let moved = ending(key(2), arrival(next, waitID: 6, before: 0))
        let repeated = ending(key(2), arrival(next, waitID: 6, before: 0))
        let duplicate = ending(key(2), arrival(next, waitID: 7, before: 0))
        memory.settle(key(2), rejected, now: seconds(2))
        #expect(await early.value == .shared(rejected), "an early duplicate did not share the verdict")
        #expect(await moved.value == .same)
        #expect(await repeated.value == .same)
        #expect(await duplicate.value == .shared(rejected))
    }

    // Another worker has lost the first delivery of a duplicate of a waiting request. The redelivery must not be
    // acknowledged without a result (seed 604 of the simulation).
    @Test func aRedeliveredDuplicateIsDistinguishedByItsProperties() async {
        let (lost, next) = (memory.openChannel(), memory.openChannel())
        #expect(memory.begin(key(), arrival(lost, fingerprint: 1)) == .first)
        memory.settle(key(), waits, now: seconds(100))
        #expect(memory.begin(key(2), arrival(lost, fingerprint: 1)) == .first)
        memory.lose(lost, now: seconds(103))
        let duplicate = arrival(next, isRedelivered: true, count: 1, fingerprint: 2)
        #expect(memory.begin(key(), duplicate) == .first)
        let shared = ending(key(2), duplicate)
        let same = ending(key(2), arrival(next, isRedelivered: true, count: 1, fingerprint: 1))
        memory.settle(key(2), rejected, now: seconds(104))
        #expect(await shared.value == .shared(rejected))
        #expect(await same.value == .same)
    }

    @Test func headersOfTheBrokerDoNotChangeTheFingerprint() {
        func fingerprint(_ headers: FieldTable?, timestamp: UInt64? = 5) -> UInt32 {
            var list = WireWriter()
            list.short((headers == nil ? 0 : 1 << 13) | (timestamp == nil ? 0 : 1 << 6))
            if let headers { list.table(headers) }
            if let timestamp { list.longLong(timestamp) }
            return memory.fingerprint(of: MessageProperties(storage: list.bytes))
        }
        let plain = fingerprint(["b": 1, "a": "x"])
        #expect(plain == fingerprint(["a": "x", "b": 1]), "the order of headers changed the fingerprint")
        #expect(plain == fingerprint(["a": "x", "b": 1, "x-delivery-count": 3, "x-acquired-count": 4]))
        #expect(fingerprint(nil) == fingerprint(["x-delivery-count": 1]))
        #expect(plain != fingerprint(["a": "x", "b": 2]))
        #expect(plain != fingerprint(["a": "x", "b": 1], timestamp: 6))
        #expect(plain != fingerprint(["a": "x", "b": 1], timestamp: nil))
    }

    @Test func aHundredThousandRequestsTakeSixMegabytes() {
        let channel = memory.openChannel()
        for number in 0..<200_000 as Range<UInt64> {
            #expect(begin(key(number), channel) == .first)
            memory.settle(key(number), accepted, now: seconds(0))
        }
        #expect((5_300_000...6_000_000).contains(memory.bytes))
    }

    @Test func theOldestRequestsAreForgottenOnlyAtTheBound() {
        let memory = DuplicateMemory(settledMax: 1600)
        let channel = memory.openChannel()
        func key(_ number: UInt64) -> DeduplicationKey { memory.key(id: UUIDValue(high: 1, low: number), body: [1]) }
        func begin(_ number: UInt64) -> DuplicateMemory.Admission {
            memory.begin(key(number), DuplicateCandidate(channel: channel))
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

extension DuplicateMemory {
    fileprivate func key(id: UUIDValue, body: [UInt8]) -> DeduplicationKey {
        key(id: id, of: MessageContent(body: body))
    }
}

extension DuplicateMemory {
    /// Joins the first delivery and returns its end. Returns nil if the candidate must begin again, or if no first
    /// delivery is in flight.
    fileprivate func ending(of key: DeduplicationKey, _ candidate: DuplicateCandidate) async -> FirstEnd? {
        await withUnsafeContinuation { continuation in
            if !join(key, candidate, TaskWaiter(continuation)) { continuation.resume(returning: nil) }
        }
    }

    /// A waiter that resumes a task.
    ///
    /// `@unchecked Sendable`: immutable.
    private final class TaskWaiter: Waiter, @unchecked Sendable {
        private let continuation: UnsafeContinuation<FirstEnd?, Never>

        init(_ continuation: UnsafeContinuation<FirstEnd?, Never>) {
            self.continuation = continuation
            super.init(owner: nil)
        }

        override func firstEnded(_ end: FirstEnd?) { continuation.resume(returning: end) }
    }
}
