import EventLoop
import Testing

@testable import Worker

/// Transcripts of the times at which a worker reports to the fleet.
@Suite struct ReportScheduleTests {
    private var schedule = ReportSchedule(seed: 1)
    private static let report = ReportSchedule.Action.report(hasEnded: false)

    private mutating func expect(
        _ event: ReportSchedule.Event, at milliseconds: Int64, _ actions: ReportSchedule.Action...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            schedule.handle(event, now: Self.time(milliseconds)) == actions, "\(event)", sourceLocation: sourceLocation)
    }

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// Sends a report, and returns the delay of the next report.
    private mutating func delay(after event: ReportSchedule.Event, at milliseconds: Int64) throws -> Int64 {
        let actions = schedule.handle(event, now: Self.time(milliseconds))
        try #require(actions.first == Self.report && actions.count == 2)
        guard case .setTimer(let next?) = actions[1] else { throw NoTimer() }
        return next.nanoseconds / 1_000_000 - milliseconds
    }

    private struct NoTimer: Error {}

    @Test(arguments: [1, 10, 60]) mutating func reportsFollowTheIntervalWithJitter(seconds: Int) throws {
        schedule = ReportSchedule(intervalSeconds: seconds, seed: 7)
        var now: Int64 = 0
        var event = ReportSchedule.Event.started
        var delays: Set<Int64> = []
        for _ in 0..<500 {
            let delay = try self.delay(after: event, at: now)
            #expect((max(Int64(seconds) * 800, 1000)...Int64(seconds) * 1200).contains(delay))
            delays.insert(delay)
            (now, event) = (now + delay, .timerFired)
        }
        #expect(delays.count > 10)
        #expect(delays.max() == Int64(seconds) * 1200)
    }

    @Test mutating func schedulesOfWorkersDiffer() throws {
        var delays: Set<Int64> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            schedule = ReportSchedule(seed: seed)
            delays.insert(try delay(after: .started, at: 0))
        }
        #expect(delays.count > 5)
    }

    @Test mutating func aChangeIsReportedAtOnceButOnceASecond() throws {
        _ = try delay(after: .started, at: 0)
        expect(.changed, at: 400, .setTimer(Self.time(1000)))
        expect(.changed, at: 600)
        _ = try delay(after: .timerFired, at: 1000)
        _ = try delay(after: .changed, at: 5000)
    }

    @Test mutating func aCommandRequestsAReportEachSecond() throws {
        _ = try delay(after: .started, at: 0)
        #expect(try delay(after: .commanded(seconds: 3), at: 5000) == 1000)
        #expect(try delay(after: .timerFired, at: 6000) == 1000)
        // A second command extends the time.
        expect(.commanded(seconds: 3), at: 6500)
        #expect(try delay(after: .timerFired, at: 7000) == 1000)
        #expect(try delay(after: .timerFired, at: 8000) == 1000)
        let last = try delay(after: .timerFired, at: 9000)
        #expect(last >= 8000)
    }

    @Test mutating func aCommandLastsAtMost60Seconds() throws {
        _ = try delay(after: .started, at: 0)
        #expect(try delay(after: .commanded(seconds: .max), at: 2000) == 1000)
        for second in 3...61 as ClosedRange<Int64> { #expect(try delay(after: .timerFired, at: second * 1000) == 1000) }
        #expect(try delay(after: .timerFired, at: 62_000) >= 8000)
    }

    @Test mutating func aCommandWithoutDurationRequestsOneReport() throws {
        _ = try delay(after: .started, at: 0)
        #expect(try delay(after: .commanded(seconds: 0), at: 2000) >= 8000)
        expect(.commanded(seconds: .min), at: 2500, .setTimer(Self.time(3000)))
    }

    @Test mutating func theLastReportFollowsTheDrain() throws {
        _ = try delay(after: .started, at: 0)
        expect(.drained, at: 100, .report(hasEnded: true), .setTimer(nil))
        expect(.drained, at: 200)
        expect(.changed, at: 20_000)
        expect(.timerFired, at: 20_000)
        expect(.commanded(seconds: 5), at: 20_000)
    }

    @Test mutating func aWorkerThatHasNotStartedReportsOnlyItsEnd() {
        expect(.changed, at: 0)
        expect(.timerFired, at: 0)
        expect(.commanded(seconds: 5), at: 0)
        expect(.drained, at: 1, .report(hasEnded: true))
    }
}
