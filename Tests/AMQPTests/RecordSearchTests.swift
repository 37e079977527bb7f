import AMQP
import Testing

/// The search for a record in a stream whose last messages are no records.
@Suite struct RecordSearchTests {
    /// Searches a stream. Returns the positions that were read, and the number of messages that were read from them.
    private func search(
        _ count: Int64, record: Int64?, chunk: Int64 = 1, from start: Int64 = 0
    ) -> (positions: [StreamPosition], read: Int64, isExhausted: Bool) {
        var search = RecordSearch()
        var positions: [StreamPosition] = []
        var read: Int64 = 0
        repeat {
            let position = search.begin()
            positions.append(position)
            let first: Int64 =
                switch position {
                case .offset(let offset): max(start, offset)
                case .last: max(start, count - chunk)
                default: start
                }
            for offset in first..<count {
                read += 1
                search.messageRead(at: offset, isRecord: offset == record)
                // The end of the last chunk is known only after a wait.
                if search.waitMilliseconds == 0 { break }
            }
        } while search.continueBefore()
        return (positions, read, search.isExhausted)
    }

    @Test func aRecordInTheLastChunkEndsTheSearch() {
        #expect(search(1000, record: 999).positions == [.last])
        #expect(search(1000, record: 990, chunk: 16).positions == [.last])
        let empty = search(0, record: nil)
        #expect(empty.positions == [.last] && !empty.isExhausted)
    }

    @Test func theSearchGoesBackInGrowingStepsToTheFirstMessage() {
        #expect(search(1000, record: 980).positions == [.last, .offset(935)])
        #expect(search(1000, record: 500).positions == [.last, .offset(935), .offset(423)])
        let all = search(1_000_000, record: 0)
        #expect(!all.isExhausted && all.positions.last == .first && all.positions.count < 10)
        let none = search(1_000_000, record: nil)
        #expect(none.isExhausted && none.positions == all.positions)
        #expect(search(1, record: nil).isExhausted)
    }

    // Each step ends where the step before began.
    @Test func noMessageIsReadTwiceBeforeARecordIsFound() {
        #expect(search(1_000_000, record: nil).read == 1_000_000)
        #expect(search(1000, record: nil, chunk: 100).read == 1000)
    }

    // The broker begins with the first message that it keeps.
    @Test func theSearchEndsAtTheFirstMessageThatTheStreamKeeps() {
        let kept = search(100_000, record: 99_000, from: 98_000)
        #expect(!kept.isExhausted)
        let none = search(100_000, record: nil, from: 99_990)
        #expect(none.isExhausted && none.positions.last == .first)
    }

    @Test func aLateRecordEndsTheSearchThatWaits() {
        var search = RecordSearch()
        _ = search.begin()
        search.messageRead(at: 500, isRecord: false)
        #expect(search.waitMilliseconds == RecordSearch.quietMilliseconds)
        search.messageRead(at: 501, isRecord: true)
        search.messageRead(at: 502, isRecord: false)
        #expect(search.waitMilliseconds == nil && !search.continueBefore() && !search.isExhausted)
    }

    // A newer record may follow the first one that is read.
    @Test func aSearchIsCompleteAtTheEndOfItsPosition() {
        var search = RecordSearch()
        _ = search.begin()
        search.messageRead(at: 100, isRecord: false)
        #expect(search.continueBefore() && search.begin() == .offset(36))
        search.messageRead(at: 36, isRecord: true)
        #expect(!search.isComplete)
        search.messageRead(at: 98, isRecord: true)
        #expect(!search.isComplete)
        search.messageRead(at: 99, isRecord: false)
        #expect(search.isComplete && !search.continueBefore())
    }

    // Further messages that are no records must not begin the search again.
    @Test func anExhaustedSearchWaitsForARecord() {
        var search = RecordSearch()
        _ = search.begin()
        search.messageRead(at: 0, isRecord: false)
        #expect(!search.continueBefore() && search.isExhausted)
        search.messageRead(at: 1, isRecord: false)
        #expect(search.waitMilliseconds == nil && search.isExhausted)
        search.messageRead(at: 2, isRecord: true)
        #expect(!search.isExhausted)
    }

    @Test func anInterruptedSearchBeginsAtTheLastChunk() {
        var search = RecordSearch()
        #expect(search.begin() == .last)
        search.messageRead(at: 500, isRecord: false)
        #expect(search.continueBefore() && search.begin() == .offset(436))
        search.messageRead(at: 436, isRecord: false)
        #expect(search.waitMilliseconds == nil)
        #expect(search.begin() == .last)
        search.messageRead(at: 501, isRecord: false)
        #expect(search.waitMilliseconds == RecordSearch.quietMilliseconds)
    }
}
