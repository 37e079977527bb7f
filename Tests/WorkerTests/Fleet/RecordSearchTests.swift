import AMQP
import Testing

@testable import Worker

/// The search for a record of pauses behind which other messages follow.
@Suite struct RecordSearchTests {
    /// Searches a stream. Returns the positions that were read, and whether the newest record was found.
    private func search(
        _ count: Int64, record: Int64?, chunk: Int64 = 1
    ) -> (positions: [StreamPosition], isFound: Bool) {
        var search = RecordSearch()
        var positions: [StreamPosition] = []
        repeat {
            positions.append(search.begin())
            let start: Int64 =
                switch positions.last {
                case .offset(let offset): offset
                case .last: max(0, count - chunk)
                default: 0
                }
            for offset in start..<count { search.messageRead(at: offset, isRecord: offset == record) }
        } while search.continueBefore()
        return (positions, positions.count > 0 && !search.isFruitless)
    }

    @Test func aRecordInTheLastChunkEndsTheSearch() {
        #expect(search(1000, record: 999).positions == [.last])
        #expect(search(1000, record: 990, chunk: 16).positions == [.last])
        #expect(search(0, record: nil).positions == [.last])
    }

    @Test func theSearchGoesBackInGrowingStepsToTheFirstMessage() {
        #expect(search(1000, record: 980).positions == [.last, .offset(935)])
        #expect(search(1000, record: 500).positions == [.last, .offset(935), .offset(423)])
        let all = search(1_000_000, record: 0)
        #expect(all.isFound && all.positions.last == .first && all.positions.count < 10)
        let none = search(1_000_000, record: nil)
        #expect(!none.isFound && none.positions == all.positions)
    }

    @Test func anInterruptedSearchBeginsAtTheLastChunk() {
        var search = RecordSearch()
        #expect(search.begin() == .last)
        search.messageRead(at: 500, isRecord: false)
        #expect(search.continueBefore() && search.begin() == .offset(436))
        #expect(search.begin() == .last)
        search.messageRead(at: 501, isRecord: false)
        search.messageRead(at: 502, isRecord: true)
        #expect(!search.isFruitless && !search.continueBefore())
    }
}
