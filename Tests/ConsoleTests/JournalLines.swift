import ControlProtocol
import Crypto

/// Batches and lines of a journal for tests.
enum JournalLines {
    static let token = String(repeating: "00fc13ad", count: 8)
    static let user = "user-4711"
    static let app = "com.example.shop"

    static func id(_ number: Int) -> UUIDValue { UUIDValue(high: 0x4000, low: 0x8000_0000_0000_0000 | UInt64(number)) }

    static func batch(_ lines: [JournalLine], sequence: Int = 1, boot: Int = 1, at: Int64) -> JournalBatch {
        JournalBatch(
            JournalHead(
                worker: "host/7/0.2", bootID: UUIDValue(high: 7, low: UInt64(boot)), sequence: sequence, sentAt: at,
                droppedLines: 0, hasEnded: false), lines: lines)
    }

    static func accepted(_ number: Int, app: String = app, token: String = token, at: Int64) -> JournalLine {
        .result(
            Array(
                """
                {"id":"\(id(number))","app":"\(app)","device_token":"\(token)","user":"\(user)","outcome":"accepted",\
                "status":200,"attempts":1,"published_at":\(at - 90),"received_at":\(at - 50),"sent_at":\(at - 48),\
                "finished_at":\(at),"queue":"push.requests","worker":"w1"}
                """.utf8))
    }

    static func refused(_ number: Int, path: String, at: Int64) -> JournalLine {
        .result(
            Array(
                """
                {"id":"\(id(number))","app":"\(app)","device_token":"\(token)","outcome":"rejected","status":400,\
                "reason":"BadTopic","attempts":1,"received_at":\(at - 50),"sent_at":\(at - 48),"finished_at":\(at),\
                "queue":"push.requests","worker":"w1",\
                "error":{"class":"apns","code":"BadTopic","path":"\(path)","message":"m"}}
                """.utf8))
    }

    static func wait(_ number: Int, at: Int64) -> JournalLine {
        .wait(
            JournalWait(
                at: at, id: id(number), app: app, deviceToken: token, code: "InvalidProviderToken",
                sentence: "APNs refuses the key.", attempts: 1, queue: "push.wait.15m.1", until: at + 900_000))
    }

    static func sample(_ number: Int, path: String, at: Int64) -> JournalLine {
        let body = """
            {"device_token":"\(token)","user":"\(user)","payload":{"aps":{"alert":"secret","sound":"wrong"},"n":12}}
            """
        return .dead(
            JournalSample(
                at: at, id: id(number), app: app, failureClass: "apns", code: "BadTopic", path: path,
                headers: [.init("push-attempts", "1"), .init("customer", "Erika")], body: Array(body.utf8)))
    }
}
