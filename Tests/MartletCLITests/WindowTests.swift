import AMQP
import CommandKit
import HTTPClient
import TestKit
import Testing
import Text

@testable import ControlProtocol
@testable import DeadLetters
@testable import Delivery
@testable import MartletCLI

/// Output in a window of 80 columns or few rows.
@Suite(.timeLimit(.minutes(10))) struct WindowTests {
    private static let letters = (0..<3).map { number in
        DeadLetter(DeadLetterQueue.letterCopy(number, reason: String(repeating: "reason ", count: 20)))
    }

    @Test func deadLettersFitEightyColumns() {
        let wide = DeadLetterText.table(Self.letters, reveals: false, nowUnixMilliseconds: DeadLetterQueue.failedAt)
        #expect(wide.contains("REASON") && wide.split(separator: "\n")[1].count > 150)
        let narrow = DeadLetterText.table(
            Self.letters, reveals: false, nowUnixMilliseconds: DeadLetterQueue.failedAt, width: 80)
        for line in narrow.split(separator: "\n") { #expect(line.columns <= 80, "\(line)") }
        #expect(narrow.contains(DeadLetterQueue.id(2)) && narrow.contains("BadDeviceToken"))
    }

    private static func table(_ window: Terminal.Window?, isRedrawn: Bool) throws -> StatusTable {
        var status = WorkerStatus(worker: "mailhost.example/71234/0.1.0")
        (status.uptimeSeconds, status.phase, status.inFlight) = (3725, .running, 9)
        status.reasons = [String(repeating: "a long reason ", count: 12)]
        (status.broker, status.queuesSecondsOld) = ("rabbit:5672", 4)
        status.queues = (0..<30).map { .init(name: "push.requests.\($0)", messages: 12, consumers: 2) }
        status.paused = ["everything"]
        status.pauses = [
            PauseReport(target: "everything", note: PauseNote(by: "ana", reason: "key rotation"), seconds: 182)
        ]
        let line = StatusTable.Line(address: "x", status: .success(status), difference: WorkerTotals())
        return StatusTable(lines: [line], seconds: 1, hasColors: false, window: window, isRedrawn: isRedrawn)
    }

    @Test(arguments: [(80, 24), (60, 10), (40, 5)])
    func aRedrawnStatusFitsItsWindow(_ columns: Int, _ rows: Int) throws {
        let text = try Self.table(.init(columns: columns, rows: rows), isRedrawn: true).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for line in lines { #expect(line.columns <= columns, "\(line)") }
        #expect(lines.count == rows - 1)
        #expect(lines.last?.hasSuffix("more lines; press q to quit") == true)
        #expect(text.contains("WORKER") && text.contains("STATE"))
    }

    /// The table fits the window. Sentences are not cut, because the status is printed only once.
    @Test func aStatusThatIsNotRedrawnKeepsItsSentences() throws {
        let text = try Self.table(.init(columns: 80, rows: 24), isRedrawn: false).text
        #expect(text.split(separator: "\n")[0].columns <= 80 && text.split(separator: "\n").count > 30)
        #expect(text.contains(String(repeating: "a long reason ", count: 11)))
        #expect(try Self.table(nil, isRedrawn: false).text.contains("LANES  IN FLIGHT"))
    }

    @Test func aPauseIsShownWithUserReasonAndDuration() throws {
        let text = try Self.table(nil, isRedrawn: false).text
        let row = text.split(separator: "\n").first { $0.hasPrefix("everything") }
        #expect(
            row?.split(separator: " ").joined(separator: " ")
                == "everything paused 3m 2s by ana: key rotation; to resume, run: martlet resume")
    }

    @Test func repeatedDeadLettersAreCounted() {
        var repeated = RepeatedLetters()
        let letter = Self.letters[0]
        var other = letter
        other.code = "BadTopic"
        #expect(repeated.add(letter, body: [1]) && !repeated.add(letter, body: [1]) && !repeated.add(letter, body: [1]))
        #expect(repeated.add(letter, body: [2]) && repeated.add(other, body: [1]))
        #expect(
            repeated.lines == [
                "and 2 more of \(letter.id) (apns BadDeviceToken) with the same body; --json prints all"
            ])
    }

    /// After `q`, the terminal echoes input again.
    @Test func qEndsAWatch() async throws {
        let broker = try await PrivateBroker.shared
        let martlet = try Products.executable("martlet")
        let command = "'\(martlet)' watch --url '\(broker.url)'; echo ended $?; stty -a"
        let applied = try await ChildProcess.run([martlet, "topology", "apply", "--url", broker.url])
        try #require(applied.exit.status == .exited(0), "\(applied.errors)")
        let watch = try await ChildProcess(["script", "-qec", command, "/dev/null"], input: .pipe)
        _ = try await watch.output.line { $0.contains("OUTCOME") }
        try watch.write(line: "q")
        _ = try await watch.output.line { $0.contains("ended 0") }
        _ = try await watch.output.line { $0.contains(" echo ") && !$0.contains("-echo ") }
        #expect(try await watch.exit().status == .exited(0))
    }
}

extension DeadLetterQueue {
    static func letterCopy(_ number: Int, reason: String) -> RepublishableMessage {
        var copy = RepublishableMessage(body: body(number))
        copy.messageID = id(number)
        copy.headers = [
            "push-reason-class": "apns", "push-reason-code": "BadDeviceToken", "push-reason": .string(reason),
            "push-failed-at": .integer(failedAt - 5000),
        ]
        return copy
    }
}
