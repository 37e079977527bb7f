import ControlProtocol
import Crypto
import SQLite
import TestKit
import Testing

@testable import History

/// Queries of a history in real files.
@Suite struct HistoryQueryTests {
    private let fixture: HistoryFixture

    init() throws {
        fixture = try HistoryFixture()
    }

    @Test func aLineIsReadAsWritten() throws {
        let members = """
            ,"published_at":\(Journal.now - 1000),"push_type":"alert","possible_duplicate":true,"duplicate":true,\
            "history":[{"at":\(Journal.now - 900),"event":"attempt","code":"x","rounds":2,"until":\(Journal.now)}]
            """
        let failed = Journal.result(
            2, outcome: "rejected", user: Journal.user, error: "BadTopic",
            members: #","push_type":"alert""#)
        // A repeated member is refused, so the sample's own member is removed.
        guard case .result(let body) = Journal.result(1) else { return }
        let text = String(decoding: body, as: UTF8.self).replacing(#""possible_duplicate":false,"#, with: "")
        let full = JournalLine.result(Array((text.dropLast() + members + "}").utf8))
        let unsent = Journal.result(
            4, outcome: "rejected", members: #","error":{"class":"app","code":"unknown","message":"m"}"#)
        try fixture.write(Journal.messages([[unsent, full, failed, Journal.wait(3)]]))
        let rows = try fixture.read { reader throws(SQLiteError) in try reader.page(.newest).rows.map(\.line) }
        var expected: [RequestLine] = []
        guard case .wait(let wait) = Journal.wait(3) else { return }
        expected.append(.wait(wait, worker: "host/7/0.2"))
        for line in [failed, full, unsent] {
            guard case .result(let body) = line else { continue }
            expected.append(.result(try #require(ResultRecord(body))))
        }
        #expect(rows == expected)
        guard case .result(let first)? = rows.dropLast().last else { return }
        #expect(first.isDuplicate && first.isPossibleDuplicate && first.history.count == 1)
    }

    @Test(arguments: SegmentReader.Query.all.map { "\($0)" })
    func noQueryReadsAllRows(_ query: String) async throws {
        try fixture.write(Journal.messages([[Journal.result(1)]]))
        let program = """
            import sqlite3, sys
            plan = sqlite3.connect(sys.argv[1]).execute("EXPLAIN QUERY PLAN " + sys.argv[2], [1, 1, 1, 1][:int(sys.argv[3])])
            for row in plan: print(row[3])
            """
        let count = (1...4).last { query.contains("?\($0)") } ?? query.count { $0 == "?" }
        let result = try await ChildProcess.run([
            "/usr/bin/python3", "-c", program, fixture.folder.segmentPath(1), query, "\(count)",
        ])
        #expect(result.exit.status == .exited(0), "\(result.errors)")
        let searches = result.output.filter { $0 != "USE TEMP B-TREE FOR ORDER BY" }
        #expect(!searches.isEmpty && searches.allSatisfy { $0.hasPrefix("SEARCH ") }, "\(result.output)")
    }

    @Test func rowsAreFoundByIDTokenPrefixUserAndCode() throws {
        let other = "abcdef0123" + String(repeating: "9", count: 54)
        try fixture.write(
            Journal.messages([
                [Journal.result(1), Journal.result(2, token: other, user: "bob")],
                [
                    Journal.result(3, outcome: "rejected", token: other.uppercased(), error: "BadTopic"),
                    Journal.result(4, outcome: "rejected", app: "b", token: nil, user: Journal.user, error: "BadTopic"),
                ],
            ]))
        func numbers(_ query: HistoryQuery) throws -> [Int] {
            try fixture.ids(query).map { id in try #require((1...4).first { Journal.uuid($0) == id }) }
        }
        #expect(try numbers(.newest) == [4, 3, 2, 1])
        #expect(try numbers(.id(Journal.uuid(2))) == [2])
        #expect(try numbers(.id(Journal.uuid(9))) == [])
        #expect(try numbers(.token(Journal.token)) == [1])
        #expect(try numbers(.token(other)) == [3, 2])
        #expect(try numbers(.token("ABCD")) == [3, 2])
        #expect(try numbers(.token("abcdef0123")) == [3, 2])
        // A longer part would lead to the whole token, digit by digit.
        for digits in 11..<other.count { #expect(try numbers(.token(String(other.prefix(digits)))) == []) }
        #expect(try numbers(.user("bob")) == [2])
        #expect(try numbers(.user("alice")) == [])
        #expect(try numbers(.code("BadTopic", app: nil)) == [4, 3])
        #expect(try numbers(.code("BadTopic", app: "b")) == [4])
        #expect(try numbers(.code("BadTopic", app: "c")) == [])
        #expect(try numbers(.code("None", app: nil)) == [])
    }

    @Test func pagesContinueAcrossSegments() throws {
        fixture.limits.segmentRowsMax = 10
        try fixture.withWriter { open in
            for message in Journal.accepted(6, count: 7) { _ = try open.write([message]) }
        }
        #expect(fixture.folder.segmentNumbers == [1, 2, 3])
        let all = (0..<42).reversed().map { Journal.uuid($0) }
        for limit in [1, 6, 7, 13, 42, 43] { #expect(try fixture.ids(limit: limit) == all) }
        #expect(try fixture.ids(.token(Journal.token), limit: 5) == all)
        #expect(try fixture.ids(.token("00fc"), limit: 5) == all)
    }

    @Test func aRequestThatWaitsIsOneRowUntilItsResult() throws {
        let waits = [[Journal.wait(1), Journal.wait(2)], [Journal.wait(1, code: "Shutdown")]]
        try fixture.write(Journal.messages(waits))
        func open() throws -> [OpenWaits] { try fixture.read { reader throws(SQLiteError) in try reader.openWaits() } }
        #expect(try fixture.ids() == [Journal.uuid(1), Journal.uuid(2)])
        #expect(Set(try open().map(\.code)) == ["InvalidProviderToken", "Shutdown"])
        let history = #","history":[{"at":\#(Journal.now),"event":"hold","code":"Shutdown","rounds":1}]"#
        try fixture.write(Journal.messages([[Journal.result(1, members: history)]], from: 2))
        #expect(try fixture.ids() == [Journal.uuid(1), Journal.uuid(2)])
        #expect(
            try open() == [
                OpenWaits(
                    code: "InvalidProviderToken", app: "com.example.app", count: 1, oldestAt: Journal.now)
            ])
        let position = try fixture.read { reader throws(SQLiteError) in try reader.page(.newest).rows[0].position }
        let lines = try fixture.read { reader throws(SQLiteError) in try reader.lines(at: position) }
        #expect(lines.count == 3)
        #expect(RequestSteps.steps(of: lines).map(\.event) == [.delivered, .attempt, .waits, .waits, .result])
        #expect(HistoryPosition(position.description) == position)
    }

    @Test func figuresOfAppsCountTheLastHour() throws {
        let (old, minute) = (Journal.now - 7_200_000, Journal.now - 60_000)
        try fixture.write(
            Journal.messages([
                [
                    Journal.result(1, at: old), Journal.result(2, app: "old", at: old), Journal.result(3, at: minute),
                    Journal.result(4, outcome: "rejected", error: "Unregistered", at: minute),
                    Journal.result(5, outcome: "expired"), Journal.result(6, members: #","duplicate":true"#),
                ]
            ]))
        let apps = try fixture.read { reader throws(SQLiteError) in try reader.apps(at: Journal.now) }
        #expect(
            apps == [
                AppFigures(
                    app: "com.example.app", accepted: 1, refused: 1, failed: 1, gone: 1, lastAcceptedAt: minute),
                AppFigures(app: "old", lastAcceptedAt: old),
            ])
        #expect(apps[0].goneShare == 0.5)
    }

    @Test func deadLettersAreGroupedByCauseWithSamples() throws {
        let failures = (1...3).map { Journal.result($0, outcome: "rejected", error: "BadTopic") }
        let earlier = Journal.result(4, outcome: "rejected", error: "BadTopic", at: Journal.now - 3_600_000)
        try fixture.write(
            Journal.messages([
                failures + [earlier, Journal.sample(1), Journal.result(5, outcome: "rejected", error: "X")]
            ]))
        let groups = try fixture.read { reader throws(SQLiteError) in try reader.deadLetterGroups(at: Journal.now) }
        let group = try #require(groups.first { $0.cause.code == "BadTopic" })
        #expect(groups.count == 2)
        #expect(group.count == 4)
        #expect(group.hours == [Int](repeating: 0, count: 22) + [1, 3])
        #expect((group.firstAt, group.lastAt) == (Journal.now - 3_600_000, Journal.now))
        guard case .dead(let sample) = Journal.sample(1) else { return }
        let samples = try fixture.read { reader throws(SQLiteError) in try reader.samples(of: group.number) }
        #expect(samples == [sample])
    }

    @Test func theTextsOfAForgedCauseArePrintable() throws {
        let error = #"{"class":"a\u001b[31m","code":"c\nd","path":"/a\u001b]0;x\u0007","message":"m"}"#
        let forged = Journal.result(
            1, outcome: "rejected", app: "x\\u001by", members: #","error":\#(error)"#)
        try fixture.write(Journal.messages([[forged]]))
        let groups = try fixture.read { reader throws(SQLiteError) in try reader.deadLetterGroups(at: Journal.now) }
        #expect(
            groups.map(\.cause.parts) == [["a\u{FFFD}[31m", "c\u{FFFD}d", "x\u{FFFD}y", "/a\u{FFFD}]0;x\u{FFFD}"]])
    }

    @Test func gapsOfATimeRangeAreFound() throws {
        let (lost, killed) = (Journal.head(3, at: Journal.now), Journal.head(1, boot: 2, at: Journal.now + 4000))
        let heads = [Journal.head(1, at: Journal.now - 9000), lost, killed]
        try fixture.write(
            heads.enumerated().map { HistoryMessage(offset: Int64($0), body: JournalBatch($1, lines: []).json) })
        func reasons(_ range: ClosedRange<Int64>, at now: Int64 = Journal.now + 5000) throws -> [HistoryGap.Reason] {
            try fixture.read { reader throws(SQLiteError) in try reader.gaps(in: range, at: now).map(\.reason) }
        }
        #expect(try reasons(Journal.now - 8000...Journal.now - 7000) == [.missing])
        #expect(try reasons(Journal.now + 1...Journal.now + 5000) == [.killed])
        #expect(try reasons(Journal.now - 20_000...Journal.now - 10_000) == [])
        #expect(try reasons(Journal.now + 9000...Journal.now + 9000, at: Journal.now + 60_000) == [.silent])
    }
}
