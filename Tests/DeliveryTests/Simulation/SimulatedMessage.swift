import Crypto
import EventLoop

/// A message that the simulation publishes, and how it must end.
struct SimulatedMessage {
    enum Kind: CaseIterable {
        case alert
        case background
        /// Its token is dead: 410.
        case unregistered
        /// Its token never was: 400.
        case badToken
        case expired
        /// Breaks the schema.
        case withoutPayload
        case notJSON
    }

    let kind: Kind
    let id: UUIDValue
    let body: [UInt8]
    /// Empty when nothing is sent.
    let payload: [UInt8]
    let publishedAfterMilliseconds: Int
    /// A producer that got no confirm publishes again.
    let copies: Int

    init(number: Int, random: inout SeededRandom) {
        let kinds: [Kind] = [.alert, .alert, .alert, .alert, .background] + Kind.allCases
        kind = kinds[random.below(kinds.count)]
        id = UUIDValue(high: random.next() & ~0xF000 | 0x4000, low: UInt64(number) | 0x8000_0000_0000_0000)
        publishedAfterMilliseconds = random.below(20_000)
        copies = random.chance(percent: 3) ? 2 : 1
        let padding = String(repeating: "x", count: random.below(300))
        let text = #"{"aps":{"alert":{"title":"\#(number)","body":"\#(padding)"}}}"#
        payload =
            switch kind {
            case .alert, .unregistered, .badToken: Array(text.utf8)
            case .background: Array(#"{"aps":{"content-available":1},"n":\#(number)}"#.utf8)
            case .expired, .withoutPayload, .notJSON: []
            }
        body = Self.body(kind, id, number, String(decoding: payload, as: UTF8.self))
    }

    private static func body(_ kind: Kind, _ id: UUIDValue, _ number: Int, _ payload: String) -> [UInt8] {
        let prefix =
            switch kind {
            case .unregistered: "dead"
            case .badToken: "bad0"
            case .alert, .background, .expired, .withoutPayload, .notJSON: "a11f"
            }
        let digits = String(number, radix: 16)
        let token = prefix + String(repeating: "0", count: 60 - digits.count) + digits
        let start = #"{"id":"\#(id)","app":"com.example.app","device_token":"\#(token)","push_type":"#
        let text =
            switch kind {
            case .alert, .unregistered, .badToken: start + #""alert","payload":\#(payload)}"#
            case .background: start + #""background","priority":5,"payload":\#(payload)}"#
            case .expired: start + #""alert","expiration":1700000000,"payload":{"aps":{"alert":"late"}}}"#
            case .withoutPayload: start + #""alert"}"#
            case .notJSON: "this is message \(number)"
            }
        return Array(text.utf8)
    }

    var outcome: String {
        switch kind {
        case .alert, .background: "accepted"
        case .unregistered, .badToken: "rejected"
        case .expired: "expired"
        case .withoutPayload, .notJSON: "invalid"
        }
    }

    /// Second and third word of its dead letter's routing key.
    var deadLetter: String? {
        switch kind {
        case .alert, .background, .unregistered, .expired: nil
        case .badToken: "apns.BadDeviceToken"
        case .withoutPayload: "schema.required"
        case .notJSON: "json.syntax"
        }
    }
}
