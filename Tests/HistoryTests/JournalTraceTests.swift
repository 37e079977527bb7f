import ControlProtocol
import Testing

@testable import History

/// The search for one request in the journal.
@Suite struct JournalTraceTests {
    private static func trace(_ number: Int, _ batches: [JournalBatch]) -> JournalTrace {
        var trace = JournalTrace(Journal.uuid(number))
        for batch in batches { trace.receive(batch.json) }
        return trace
    }

    @Test func theStepsAreThoseOfTheHistory() {
        let history =
            #","history":[{"at":\#(Journal.now - 9000),"event":"hold","code":"InvalidProviderToken","rounds":1}]"#
        let trace = Self.trace(
            2,
            [
                JournalBatch(
                    Journal.head(7),
                    lines: [Journal.wait(1), Journal.wait(2, at: Journal.now - 9000), Journal.result(3)]),
                JournalBatch(Journal.head(8), lines: [Journal.result(2, members: history), Journal.sample(2)]),
            ])
        #expect(trace.lines.count == 2)
        #expect(trace.steps == RequestSteps.steps(of: trace.lines))
        #expect(trace.steps.map(\.event) == [.waits, .delivered, .attempt, .result])
        // The search begins in the middle of the stream.
        #expect(trace.allGaps(at: Journal.now) == [])
        #expect((trace.batches, trace.malformed, trace.times) == (2, 0, Journal.now...Journal.now))
    }

    @Test func anIDInCapitalsIsFound() throws {
        guard case .result(let body) = Journal.result(1) else { return }
        let id = "\(Journal.uuid(1))"
        let capitals = String(decoding: body, as: UTF8.self).replacing(id, with: id.uppercased())
        let batch = JournalBatch(Journal.head(1), lines: [.result(Array(capitals.utf8))])
        #expect(Self.trace(1, [batch]).lines.count == 1)
        // The id as a value of another member.
        let other = Journal.result(2, members: #","request_id":"\#(id)""#)
        #expect(Self.trace(1, [JournalBatch(Journal.head(1), lines: [other])]).lines == [])
    }

    @Test func gapsThatMayHideTheRequestAreReported() {
        let trace = Self.trace(
            1,
            [
                JournalBatch(Journal.head(1), lines: []), JournalBatch(Journal.head(3, at: Journal.now + 5), lines: []),
                JournalBatch(Journal.head(1, boot: 2, at: Journal.now + 9), lines: []),
            ])
        #expect(trace.allGaps(at: Journal.now + 9).map(\.reason) == [.missing, .killed])
        #expect(trace.allGaps(at: Journal.now + 60_000).map(\.reason) == [.missing, .killed, .silent])
    }

    @Test func aWorkerThatContinuesWasNotKilled() {
        let trace = Self.trace(
            1,
            [
                JournalBatch(Journal.head(1), lines: []),
                JournalBatch(Journal.head(1, worker: "host/8/0.2", boot: 2), lines: []),
                JournalBatch(Journal.head(2), lines: []),
            ])
        #expect(trace.allGaps(at: Journal.now) == [])
    }

    @Test func otherMessagesAreCounted() {
        var trace = JournalTrace(Journal.uuid(1))
        trace.receive([])
        trace.receive(Array("{}".utf8))
        #expect((trace.batches, trace.malformed) == (0, 2))
        #expect(trace.times == nil)
    }
}
