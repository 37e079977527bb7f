import ControlProtocol
import Testing

@testable import History

/// The steps of a request.
@Suite struct RequestStepsTests {
    private static func lines(_ lines: [JournalLine]) throws -> [RequestLine] {
        try lines.map { line in
            switch line {
            case .result(let body): .result(try #require(ResultRecord(body)))
            case .wait(let wait): .wait(wait, worker: "w4")
            case .dead: throw InvalidLine()
            }
        }
    }

    private struct InvalidLine: Error {}

    @Test func aRequestWithTwoAttemptsAndAHoldShowsEachStepWithReasonAndTime() throws {
        let history = """
            ,"published_at":\(Journal.now - 1000),"history":[\
            {"at":\(Journal.now - 900),"event":"attempt","code":"ServiceUnavailable","rounds":1},\
            {"at":\(Journal.now - 891),"event":"hold","code":"InvalidProviderToken","rounds":3,\
            "until":\(Journal.now - 890 + 900_000)}]
            """
        let result = Journal.result(1, members: history)
        let steps = RequestSteps.steps(of: try Self.lines([result, Journal.wait(1, at: Journal.now - 890)]))
        #expect(steps.map(\.event) == [.published, .attempt, .waits, .delivered, .attempt, .result])
        #expect(steps.map { $0.at - Journal.now } == [-1000, -900, -890, -50, -48, 0])
        #expect(steps.map(\.code) == [nil, "ServiceUnavailable", "InvalidProviderToken", nil, nil, nil])
        #expect(steps[2].text == "APNs refuses the key.")
        #expect(steps[2].queue == "push.wait.15m.1")
        #expect(steps[2].worker == "w4")
        #expect(steps[2].rounds == 3)
        #expect(steps[4].text == "attempt 1: 200, 48 ms")
        #expect(steps[5].text == "accepted")
    }

    @Test func aRequestThatWaitsHasNoResult() throws {
        let steps = RequestSteps.steps(
            of: try Self.lines([Journal.wait(1), Journal.wait(1, code: "Shutdown", at: Journal.now + 9)]))
        #expect(steps.map(\.code) == ["InvalidProviderToken", "Shutdown"])
        #expect(steps.allSatisfy { $0.event == .waits && $0.until != nil })
    }

    @Test func repeatedLinesAreOneStep() throws {
        let result = Journal.result(1, outcome: "rejected", error: "BadTopic")
        let once = RequestSteps.steps(of: try Self.lines([result]))
        #expect(RequestSteps.steps(of: try Self.lines([result, result])) == once)
        #expect(once.last?.text == "rejected: m")
        #expect(once.last?.code == "BadTopic")
    }

    @Test(arguments: [
        "{}", #"{"outcome":"accepted"}"#, #"{"outcome":"great","finished_at":1764300000000}"#,
        #"{"outcome":"accepted","finished_at":7}"#, "[", "7",
    ])
    func aResultWithoutOutcomeOrTimeIsMalformed(body: String) {
        #expect(ResultRecord(Array(body.utf8)) == nil)
    }

    @Test func malformedMembersOfAResultCountAsMissing() throws {
        let body = #"""
            {"outcome":"rejected","finished_at":1764300000000,"id":"7","app":{},"user":[],"status":-1,"history":[7,{}],
             "error":7,"attempts":"x","device_token":"\#(String(repeating: "a", count: 600))"}
            """#
        let expected = ResultRecord(outcome: "rejected", finishedAt: 1_764_300_000_000, attempts: 0)
        #expect(ResultRecord(Array(body.utf8)) == expected)
    }
}
