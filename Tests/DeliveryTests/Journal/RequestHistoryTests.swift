import Testing

@testable import Delivery

/// The earlier rounds of a request and their header.
@Suite struct RequestHistoryTests {
    private static func history(_ rounds: (RequestHistory.Event, String)...) -> RequestHistory {
        var history = RequestHistory()
        for (number, (event, code)) in rounds.enumerated() {
            let time = 1_750_000_000_000 + Int64(number) * 1000
            history.add(event, code, at: time, until: event == .quarantine ? nil : time + 500)
        }
        return history
    }

    @Test func `Neighboring rounds with the same event and code are one entry`() {
        let history = Self.history(
            (.hold, "unreachable"), (.hold, "unreachable"), (.attempt, "unreachable"), (.hold, "unreachable"))
        #expect(history.entries.map(\.event) == [.hold, .attempt, .hold])
        #expect(history.entries.map(\.rounds) == [2, 1, 1])
        #expect(history.entries[0].at == 1_750_000_000_000 && history.entries[0].until == 1_750_000_001_500)
    }

    @Test func `A header is read as written`() throws {
        let history = Self.history((.attempt, "ServiceUnavailable"), (.hold, "paused"), (.quarantine, "redelivered"))
        let header = try #require(history.header)
        #expect(header.hasPrefix("a,ServiceUnavailable,1,mbxstdz4,"))
        #expect(RequestHistory(header: header) == history)
        #expect(RequestHistory().header == nil)
    }

    @Test func `The first entry and the newest remain`() {
        var history = RequestHistory()
        for number in 0..<40 { history.add(.attempt, "code-\(number)", at: Int64(number), until: 1) }
        #expect(history.entries.map(\.code) == ["code-0"] + (25..<40).map { "code-\($0)" })
    }

    @Test func `The largest history fits into the header`() throws {
        var history = RequestHistory()
        for number in 0..<RequestHistory.entriesMax {
            let code = "\(number)" + String(repeating: "x", count: 100)
            for _ in 0..<3 { history.add(.attempt, code, at: .max, until: .max) }
        }
        // A header of the maximum number of rounds.
        let header = try #require(history.header?.replacing(",3,", with: ",lflr,"))
        #expect(header.utf8.count <= RequestHistory.headerBytesMax)
        let read = try #require(RequestHistory(header: header))
        #expect(read.entries.count == RequestHistory.entriesMax)
        #expect(read.entries.allSatisfy { $0.rounds > 900_000 && $0.code.utf8.count == RequestHistory.codeBytesMax })
    }

    @Test(arguments: [
        "", ";", "a", "a,b", "a,x,1,1", "a,x,1,1,1,1", "b,x,1,1,1", "aa,x,1,1,1", "a,,1,1,1", "a,x y,1,1,1",
        "a,ü,1,1,1", "a,x,0,1,1", "a,x,-1,1,1", "a,x,zzzzzz,1,1", "a,x,1,,1", "a,x,1,-1,1", "a,x,1,1,zzzzzzzzzzzz",
        "a,x,1,1,1;", "a,x,1,1,1\u{0}", "a,x,+1,1,1 ",
        "a,\(String(repeating: "x", count: RequestHistory.codeBytesMax + 1)),1,1,1",
        String(repeating: "a,x,1,1,1;", count: RequestHistory.entriesMax) + "a,x,1,1,1",
        String(repeating: "a", count: 100_000),
    ])
    func `A malformed header is ignored`(_ header: String) {
        #expect(RequestHistory(header: header) == nil)
    }

    @Test func `Characters that separate fields are replaced`() throws {
        let history = Self.history((.attempt, "a,b;c\n"), (.hold, ""))
        #expect(history.entries.map(\.code) == ["a-b-c-", "-"])
        #expect(RequestHistory(header: try #require(history.header)) == history)
    }
}
