import ControlProtocol
import Crypto
import Delivery
import EventLoop
import Testing

@testable import Worker

/// Transcripts of the fleet's pauses in a worker, with the actions that follow each event.
@Suite struct PauseStateTests {
    private var state = PauseState(startedAt: .at(0))
    private static let shop = PauseScope.topic("com.example.shop")
    private static let note = PauseNote(by: "alice", reason: "wrong campaign")
    private static let series = UUIDValue(high: 0x4000, low: 1)

    /// Returns the time `seconds` after the start, with a wall clock that is `skew` seconds ahead.
    private static func now(_ seconds: Int64, skew: Int64 = 0) -> Now {
        Now(monotonic: .at(seconds), unixNanoseconds: (1_764_300_000 + seconds + skew) * 1_000_000_000)
    }

    private static func pause(
        _ scope: PauseScope = shop, why: String = "wrong campaign", until seconds: Int64? = nil
    ) -> FleetPause {
        FleetPause(
            scope: scope, by: "alice", why: why, since: now(-60).unixMilliseconds,
            until: seconds.map { now($0).unixMilliseconds })
    }

    /// Returns the record after these changes.
    private static func record(
        _ changes: PauseRecord.Change..., after record: PauseRecord = PauseRecord(first: series)
    ) throws -> PauseRecord {
        try changes.reduce(record) { try $0.applying($1, at: now(-30).unixMilliseconds) }
    }

    private mutating func expect(
        _ event: PauseState.Event, at seconds: Int64, skew: Int64 = 0, _ actions: PauseState.Action...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            state.handle(event, now: Self.now(seconds, skew: skew)) == actions, "\(event)",
            sourceLocation: sourceLocation)
    }

    @Test mutating func aWorkerConsumesOnceItHasAppliedTheFirstRecord() throws {
        #expect(state.start() == [.setTimer(.at(30))])
        #expect(!state.mayConsume)
        #expect(state.problem == "waiting for the pauses of the fleet: not connected yet")
        expect(.attached, at: 1)
        let record = try Self.record(.pause(Self.pause()))
        expect(.recordRead(record), at: 2, .pause(Self.shop, Self.note), .mayConsume, .report, .setTimer(nil))
        #expect(state.mayConsume && state.problem == nil)
        #expect(state.revision == record.revision)
        expect(.timerFired, at: 30)
        expect(.recordRead(try Self.record(.resume(Self.shop), after: record)), at: 40, .resume(Self.shop), .report)
    }

    @Test mutating func aWorkerWithoutARecordConsumesAfter30Seconds() throws {
        _ = state.start()
        expect(.detached(reason: "no route to host"), at: 3)
        expect(.timerFired, at: 29, .setTimer(.at(30)))
        expect(.timerFired, at: 30, .mayConsume, .report)
        #expect(state.state == .unavailable && state.mayConsume && state.revision == nil)
        #expect(state.problem == "the pauses of the fleet are unknown: no route to host")
        expect(.timerFired, at: 31)
        expect(.attached, at: 90)
        #expect(state.problem?.hasSuffix("the stream contains no record; run: martlet topology apply") == true)
        expect(.recordRead(try Self.record(.pause(Self.pause()))), at: 91, .pause(Self.shop, Self.note), .report)
        #expect(state.problem == nil)
    }

    @Test mutating func aDetachedWorkerKeepsItsPauses() throws {
        let record = try Self.record(.pause(Self.pause()))
        _ = state.handle(.attached, now: Self.now(1))
        _ = state.handle(.recordRead(record), now: Self.now(1))
        expect(.detached(reason: "broker restarted"), at: 5)
        #expect(state.inForce == [Self.pause()])
        #expect(
            state.problem == "the pauses of the fleet may be older than the newest, revision 1: broker restarted")
        expect(.attached, at: 9)
        expect(.recordRead(record), at: 9)
        expect(.recordRead(PauseRecord(first: Self.series)), at: 9)
        #expect(state.inForce == [Self.pause()])
    }

    @Test mutating func aStreamThatWasDeclaredAgainStartsOver() throws {
        let record = try Self.record(.pause(Self.pause()), .pause(Self.pause(.key("K"))))
        _ = state.handle(.recordRead(record), now: Self.now(1))
        let series = UUIDValue(high: 0x4000, low: 2)
        expect(
            .recordRead(PauseRecord(first: series)), at: 2, .resume(Self.shop), .resume(.key("K")), .report)
        #expect(state.revision == PauseRevision(series: series, number: 0))
    }

    @Test mutating func aPauseEndsByTheClockOfTheWorker() throws {
        let record = try Self.record(
            .pause(Self.pause(until: 20)), .pause(Self.pause(.key("K"), until: 50)), .pause(Self.pause(.everything)))
        _ = state.start()
        expect(
            .recordRead(record), at: 10, .pause(Self.shop, Self.note), .pause(.key("K"), Self.note),
            .pause(.everything, Self.note), .mayConsume, .report, .setTimer(.at(20)))
        expect(.timerFired, at: 20, .resume(Self.shop), .report, .setTimer(.at(50)))
        // A pause that has ended stays ended when the wall clock is set back.
        expect(.timerFired, at: 50, skew: -40, .setTimer(.at(90)))
        #expect(state.inForce.map(\.scope) == [.key("K"), .everything])
        expect(.timerFired, at: 90, .resume(.key("K")), .report)
        #expect(state.inForce.map(\.scope) == [.everything])
    }

    @Test mutating func aClockThatIsSetForwardEndsAPauseWithinAMinute() throws {
        let record = try Self.record(.pause(Self.pause(until: 7200)))
        expect(.recordRead(record), at: 0, .pause(Self.shop, Self.note), .mayConsume, .report, .setTimer(.at(60)))
        expect(.timerFired, at: 60, .setTimer(.at(120)))
        expect(.timerFired, at: 120, skew: 7200, .resume(Self.shop), .report)
    }

    @Test mutating func aPauseThatHasEndedIsNotApplied() throws {
        expect(.recordRead(try Self.record(.pause(Self.pause(until: 5)))), at: 6, .mayConsume, .report)
        #expect(state.inForce.isEmpty)
    }

    @Test mutating func aPauseWithAnotherNoteOrEndIsAppliedAgain() throws {
        let first = try Self.record(.pause(Self.pause()))
        _ = state.handle(.recordRead(first), now: Self.now(0))
        let second = try Self.record(.pause(Self.pause(why: "still wrong")), after: first)
        let note = PauseNote(by: "alice", reason: "still wrong")
        expect(.recordRead(second), at: 1, .pause(Self.shop, note), .report)
        let third = try Self.record(.pause(Self.pause(why: "still wrong", until: 100)), after: second)
        expect(.recordRead(third), at: 2, .pause(Self.shop, note), .report, .setTimer(.at(62)))
    }
}
