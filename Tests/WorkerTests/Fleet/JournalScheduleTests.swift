import ControlProtocol
import Delivery
import EventLoop
import Testing

@testable import Worker

/// Transcripts of the times at which a worker publishes batches of its journal, and of its counts of lost lines.
@Suite struct JournalScheduleTests {
    private var schedule = JournalSchedule()
    private var amounts = JournalQueue.Amounts()
    private var isReady = true
    private static let full = JournalBuffer.chunkBytesMax

    private mutating func expect(
        _ event: JournalSchedule.Event, at milliseconds: Int64, _ actions: JournalSchedule.Action...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = schedule.handle(event, amounts, isReady: isReady, now: Self.time(milliseconds))
        #expect(found == actions, "\(event)", sourceLocation: sourceLocation)
    }

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private static func publish(_ sequence: Int, dropped: Int = 0, isLast: Bool = false) -> JournalSchedule.Action {
        .publish(sequence: sequence, dropped: dropped, isLast: isLast)
    }

    private static func timer(_ milliseconds: Int64?) -> JournalSchedule.Action {
        .setTimer(milliseconds.map { time($0) })
    }

    /// Starts the journal and adds lines of some bytes at time 0.
    private mutating func start(_ bytes: Int) {
        _ = schedule.handle(.started, amounts, isReady: isReady, now: Self.time(0))
        amounts.byteCount = bytes
    }

    @Test mutating func linesWaitForTheInterval() {
        expect(.started, at: 0)
        expect(.linesAdded, at: 1)
        amounts.byteCount = 500
        expect(.linesAdded, at: 1000, Self.timer(5500))
        expect(.linesAdded, at: 3000)
        expect(.timerFired, at: 5500, Self.publish(1))
        amounts.byteCount = 0
        expect(.published(lines: 3), at: 5510)
        amounts.byteCount = 200
        expect(.linesAdded, at: 6000, Self.timer(10_500))
        #expect(schedule.totals == JournalSchedule.Totals(published: 3) && schedule.sequence == 1)
    }

    // The bound of the design is 5 s, and a line waits in the lane first.
    @Test func theIntervalsKeepTheLimitsOfTheJournal() {
        let lane = JournalSchedule.intervalMilliseconds + 500
        #expect(lane <= Int64(JournalLimits.intervalSeconds) * 1000)
        let watched = JournalSchedule.watchedIntervalMilliseconds + 500
        #expect(watched <= Int64(JournalLimits.watchedIntervalSeconds) * 1000)
        #expect(JournalBuffer.chunkBytesMax == JournalLimits.fullBatchBytes)
        #expect(JournalBuffer.lineBytesMax == JournalLimits.lineBytesMax)
        #expect(JournalBuffer.bytesMax == JournalLimits.waitingBytesMax)
        #expect(JournalSchedule.watchSecondsMax == FleetLimits.reportSecondsMax)
    }

    @Test mutating func aFullBatchIsPublishedAtOnceAndOneAtATime() {
        start(3 * Self.full)
        expect(.linesAdded, at: 100, Self.publish(1))
        expect(.linesAdded, at: 110)
        amounts.byteCount = 2 * Self.full
        expect(.published(lines: 200), at: 120, Self.publish(2))
        amounts.byteCount = 10
        expect(.published(lines: 200), at: 140, Self.timer(4640))
        #expect(schedule.totals.published == 400)
    }

    @Test mutating func aCommandShortensTheInterval() {
        start(10)
        expect(.linesAdded, at: 0, Self.timer(4500))
        expect(.commanded(seconds: 2), at: 1000, Self.timer(1500))
        expect(.timerFired, at: 1500, Self.publish(1))
        expect(.published(lines: 1), at: 1510, Self.timer(2010))
        expect(.timerFired, at: 2010, Self.publish(2))
        amounts.byteCount = 0
        expect(.published(lines: 1), at: 2020)
        amounts.byteCount = 10
        expect(.linesAdded, at: 3000, Self.timer(7500))
    }

    // The number of a batch that the broker certainly does not have is used again, so that no gap appears.
    @Test mutating func linesOfAFailedBatchAreReportedAsDropped() {
        start(2 * Self.full)
        expect(.linesAdded, at: 0, Self.publish(1))
        amounts.byteCount = Self.full
        expect(.failed(lines: 7), at: 10, Self.timer(4510))
        #expect(schedule.sequence == 0 && schedule.totals.dropped == 7)
        // A refusing broker is not asked for each batch.
        expect(.linesAdded, at: 500)
        expect(.linesAdded, at: 1010, Self.timer(nil), Self.publish(1, dropped: 7))
        amounts.byteCount = 0
        expect(.published(lines: 5), at: 1020)
        #expect(schedule.totals == JournalSchedule.Totals(published: 5, dropped: 7))
    }

    @Test mutating func dropsOfAFailedBatchAreReportedAgain() {
        start(Self.full)
        amounts.droppedCount = 4
        expect(.linesAdded, at: 0, Self.publish(1, dropped: 4))
        amounts = JournalQueue.Amounts(byteCount: 0, droppedCount: 6)
        expect(.failed(lines: 10), at: 10, Self.timer(4510))
        expect(.timerFired, at: 4510, Self.publish(1, dropped: 16))
        expect(.published(lines: 0), at: 4520)
        #expect(schedule.totals == JournalSchedule.Totals(published: 0, dropped: 16))
    }

    @Test mutating func anUnconfirmedBatchKeepsItsNumber() {
        start(Self.full)
        expect(.linesAdded, at: 0, Self.publish(1))
        amounts.byteCount = 10
        expect(.unconfirmed(lines: 9), at: 10, Self.timer(4510))
        expect(.timerFired, at: 4510, Self.publish(2))
        #expect(schedule.totals == JournalSchedule.Totals(unconfirmed: 9))
    }

    @Test mutating func nothingIsTakenWhileTheBrokerIsAway() {
        isReady = false
        start(Self.full)
        expect(.linesAdded, at: 0, Self.timer(4500))
        amounts.byteCount = 40 * Self.full
        expect(.linesAdded, at: 900)
        expect(.timerFired, at: 4500, Self.timer(5500))
        // The queue drops lines meanwhile.
        amounts.droppedCount = 1000
        expect(.linesAdded, at: 5000)
        isReady = true
        expect(.timerFired, at: 5500, Self.publish(1, dropped: 1000))
        #expect(schedule.totals.dropped == 1000)
    }

    @Test mutating func aDrainPublishesTheRestAndThenTheEnd() {
        start(2 * Self.full)
        expect(.linesAdded, at: 0, Self.publish(1))
        expect(.drained, at: 5)
        amounts.byteCount = Self.full
        expect(.published(lines: 3), at: 10, Self.publish(2))
        amounts = JournalQueue.Amounts(byteCount: 0, droppedCount: 2)
        expect(.published(lines: 3), at: 20, Self.publish(3, dropped: 2, isLast: true))
        expect(.published(lines: 0), at: 30, .ended)
        expect(.linesAdded, at: 40)
        // A new configuration begins the journal again, with the next number.
        amounts.byteCount = Self.full
        expect(.started, at: 50, Self.publish(4))
    }

    @Test(arguments: [false, true]) mutating func aDrainDoesNotWaitForABrokenBroker(_ isReady: Bool) {
        self.isReady = isReady
        start(10)
        expect(.linesAdded, at: 0, Self.timer(4500))
        guard isReady else { return expect(.drained, at: 1, Self.timer(nil), .ended) }
        expect(.drained, at: 1, Self.timer(nil), Self.publish(1))
        expect(.failed(lines: 1), at: 2, .ended)
    }

    @Test mutating func withoutAJournalNothingHappens() {
        amounts.byteCount = Self.full
        for event in [.linesAdded, .timerFired, .commanded(seconds: 9)] as [JournalSchedule.Event] {
            expect(event, at: 0)
        }
        expect(.drained, at: 1, .ended)
    }
}
