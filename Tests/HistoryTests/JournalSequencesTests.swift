import ControlProtocol
import Testing

@testable import History

/// The account of batches: gaps and repeats.
@Suite struct JournalSequencesTests {
    private static func gaps(_ heads: [JournalHead], startsInMiddle: Bool = false) -> [HistoryGap] {
        var sequences = JournalSequences(startsInMiddle: startsInMiddle)
        return heads.flatMap { sequences.receive($0).gaps.map(\.gap) }
    }

    private static func gap(
        _ reason: HistoryGap.Reason, _ from: Int64, _ until: Int64, _ count: Int?, worker: String = "host/7/0.2"
    ) -> HistoryGap {
        HistoryGap(worker: worker, from: Journal.now + from, until: Journal.now + until, reason: reason, count: count)
    }

    private static func head(_ sequence: Int, _ at: Int64, worker: String = "host/7/0.2", boot: Int = 1) -> JournalHead
    {
        Journal.head(sequence, worker: worker, boot: boot, at: Journal.now + at)
    }

    @Test func batchesInOrderLeaveNoGap() {
        #expect(Self.gaps([Self.head(1, 0), Self.head(2, 5), Self.head(3, 10)]) == [])
    }

    @Test func missingBatchesAreCounted() {
        #expect(Self.gaps([Self.head(1, 0), Self.head(4, 9)]) == [Self.gap(.missing, 0, 9, 2)])
        #expect(Self.gaps([Self.head(3, 0)]) == [Self.gap(.missing, -5000, 0, 2)])
        #expect(Self.gaps([Self.head(3, 0)], startsInMiddle: true) == [])
    }

    @Test func droppedLinesAreCounted() {
        var head = Self.head(2, 7)
        head.droppedLines = 40
        #expect(Self.gaps([Self.head(1, 0), head]) == [Self.gap(.dropped, 0, 7, 40)])
    }

    @Test func aNewProcessOfAWorkerThatDidNotEndShowsThatItWasKilled() {
        #expect(Self.gaps([Self.head(1, 0), Self.head(1, 9, boot: 2)]) == [Self.gap(.killed, 0, 9, nil)])
        var last = Self.head(2, 5)
        last.hasEnded = true
        #expect(Self.gaps([Self.head(1, 0), last, Self.head(1, 9, boot: 2)]) == [])
        #expect(Self.gaps([Self.head(1, 0), Self.head(1, 9, worker: "other/7/0.2", boot: 2)]) == [])
    }

    /// Two workers of a host have different process ids. The second may be a restart of the first.
    @Test func aWorkerThatContinuesWasNotKilled() throws {
        var sequences = JournalSequences()
        _ = sequences.receive(Self.head(1, 0))
        let other = sequences.receive(Self.head(1, 9, worker: "host/8/0.2", boot: 2))
        #expect(other.gaps.map(\.gap) == [Self.gap(.killed, 0, 9, nil)])
        let next = sequences.receive(Self.head(2, 12))
        #expect(next.revived == [Self.head(1, 0).bootID])
        #expect(next.gaps == [])
        #expect(sequences.boots[Self.head(1, 0).bootID]?.state == .running)
    }

    @Test func aRepeatedBatchIsRecognized() {
        var sequences = JournalSequences()
        #expect(!sequences.receive(Self.head(1, 0)).isRepeat)
        #expect(!sequences.receive(Self.head(2, 0)).isRepeat)
        let before = sequences
        #expect(sequences.receive(Self.head(2, 0)).isRepeat)
        #expect(sequences.receive(Self.head(1, 0)).isRepeat)
        #expect(sequences == before)
    }

    @Test func aSilentProcessIsAGap() {
        var sequences = JournalSequences()
        _ = sequences.receive(Self.head(1, 0))
        #expect(sequences.silences(at: Journal.now + 35_000) == [])
        #expect(sequences.silences(at: Journal.now + 35_001) == [Self.gap(.silent, 0, 35_001, nil)])
    }

    @Test func theOldestProcessIsForgottenBeyondTheMaximum() {
        var sequences = JournalSequences(bootsMax: 2)
        for boot in 1...3 { _ = sequences.receive(Self.head(1, Int64(boot), worker: "\(boot)/1/1", boot: boot)) }
        #expect(sequences.boots.values.map(\.worker).sorted() == ["2/1/1", "3/1/1"])
    }

    @Test func aGapConcernsTimesWithinIt() {
        let gap = Self.gap(.missing, 10, 20, 1)
        #expect(gap.concerns(Journal.now...Journal.now + 10))
        #expect(gap.concerns(Journal.now + 20...Journal.now + 30))
        #expect(!gap.concerns(Journal.now...Journal.now + 9))
        #expect(!gap.concerns(Journal.now + 21...Journal.now + 30))
        #expect(
            Self.gap(.killed, 0, 5, nil).sentence { "\($0 - Journal.now)" }
                == "host/7/0.2 was killed after 0; up to 5 s of its results are missing")
    }
}
