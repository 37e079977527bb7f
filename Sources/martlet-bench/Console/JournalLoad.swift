import ControlProtocol
import Crypto
import History

/// Batches of the journal, with results of many workers, apps and devices. The same number always has the same content.
struct JournalLoad: Sendable {
    static let resultsPerBatch = 200
    static let workers = 200
    private static let apps = (0..<20).map { "com.example.app\($0)" }
    /// One result in this number is a refusal.
    private static let refusedShare = 100
    /// One result in this number has a user.
    private static let userShare = 10

    /// The time of all results, in UNIX milliseconds.
    let at: Int64
    /// The number of the first process of the workers, so that two loads are not repeats of each other.
    var boot: UInt64 = 1

    static func id(_ number: Int) -> UUIDValue {
        UUIDValue(high: 0x4000 | UInt64(number) << 16, low: 0x8000_0000_0000_0000 | random(number) >> 2)
    }

    static func token(_ number: Int) -> String {
        (1...4).map { part in
            let digits = String(random(number &* 4 &+ part), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// A number that looks random (SplitMix64).
    private static func random(_ number: Int) -> UInt64 {
        var bits = (UInt64(bitPattern: Int64(number)) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    /// Returns the body of a batch. Each worker publishes in turn.
    func body(_ batch: Int) -> [UInt8] {
        let worker = batch % Self.workers
        let head = JournalHead(
            worker: "w\(worker)", bootID: UUIDValue(high: boot, low: UInt64(worker)),
            sequence: batch / Self.workers + 1, sentAt: at, droppedLines: 0, hasEnded: false)
        let first = batch * Self.resultsPerBatch
        return JournalBatch(head, lines: (first..<first + Self.resultsPerBatch).map(line)).json
    }

    func message(_ batch: Int) -> HistoryMessage { HistoryMessage(offset: Int64(batch), body: body(batch)) }

    private func line(_ number: Int) -> JournalLine {
        var json = """
            {"id":"\(Self.id(number))","app":"\(Self.apps[number % Self.apps.count])",\
            "device_token":"\(Self.token(number))","attempts":1,"possible_duplicate":false,"published_at":\(at - 90),\
            "received_at":\(at - 50),"sent_at":\(at - 48),"finished_at":\(at),"queue":"push.requests",\
            "push_type":"alert","worker":"w\(number / Self.resultsPerBatch % Self.workers)"
            """
        if number % Self.userShare == 0 { json += #","user":"user-\#(number)""# }
        if number % Self.refusedShare == 0 {
            json +=
                #","outcome":"rejected","status":410,"reason":"Unregistered","error":{"class":"apns","#
                + #""code":"Unregistered","message":"The device token is inactive."}"#
        } else {
            json += #","outcome":"accepted","status":200"#
        }
        return .result(Array((json + "}").utf8))
    }
}
