import ControlProtocol
import Crypto

@testable import History

/// Messages of the journal for tests.
enum Journal {
    /// A time in UNIX milliseconds, at the start of an hour.
    static let now: Int64 = 1_764_300_000_000 / 3_600_000 * 3_600_000
    static let token = String(repeating: "00fc13ad", count: 8)
    static let user = "user-4711"

    static func uuid(_ number: Int) -> UUIDValue {
        UUIDValue(high: 0x4000, low: UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    }

    static func head(
        _ sequence: Int, worker: String = "host/7/0.2", boot: Int = 1, at: Int64 = now, dropped: Int = 0,
        ended: Bool = false
    ) -> JournalHead {
        JournalHead(
            worker: worker, bootID: uuid(1_000_000 + boot), sequence: sequence, sentAt: at, droppedLines: dropped,
            hasEnded: ended)
    }

    static func result(
        _ number: Int, outcome: String = "accepted", app: String = "com.example.app", token: String? = token,
        user: String? = nil, error: String? = nil, at: Int64 = now, members: String = ""
    ) -> JournalLine {
        var json = """
            {"id":"\(uuid(number))","app":"\(app)","outcome":"\(outcome)","attempts":1,"possible_duplicate":false,\
            "received_at":\(at - 50),"sent_at":\(at - 48),"finished_at":\(at),"queue":"push.requests","worker":"w1"
            """
        if outcome == "accepted" { json += #","status":200"# }
        if let token { json += #","device_token":"\#(token)""# }
        if let user { json += #","user":"\#(user)""# }
        if let error {
            json += #","status":400,"reason":"\#(error)","error":{"class":"apns","code":"\#(error)","message":"m"}"#
        }
        return .result(Array((json + members + "}").utf8))
    }

    static func wait(_ number: Int, code: String = "InvalidProviderToken", at: Int64 = now) -> JournalLine {
        .wait(
            JournalWait(
                at: at, id: uuid(number), app: "com.example.app", deviceToken: token, code: code,
                sentence: "APNs refuses the key.", attempts: 1, queue: "push.wait.15m.1", until: at + 900_000))
    }

    static func sample(_ number: Int, code: String = "BadTopic") -> JournalLine {
        .dead(
            JournalSample(
                at: now, id: uuid(number), app: "com.example.app", failureClass: "apns", code: code,
                headers: [.init("push-attempts", "1")],
                body: Array(#"{"device_token":"\#(token)","user":"\#(user)","payload":{}}"#.utf8)))
    }

    /// Returns one message for each list of lines, with offsets from `first` and sequences from `first + 1`.
    static func messages(_ batches: [[JournalLine]], from first: Int = 0, boot: Int = 1) -> [HistoryMessage] {
        batches.enumerated().map { index, lines in
            let head = head(first + index + 1, boot: boot)
            return HistoryMessage(
                offset: Int64(first + index), body: JournalBatch(head, lines: lines).json)
        }
    }

    /// Returns messages with `count` accepted results each.
    static func accepted(_ messageCount: Int, count: Int, from first: Int = 0) -> [HistoryMessage] {
        messages(
            (first..<first + messageCount).map { message in
                (0..<count).map { result(message * count + $0) }
            }, from: first)
    }
}
