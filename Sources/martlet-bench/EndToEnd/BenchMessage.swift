import AMQP
import APNSProtocol
import TestKit

/// The message of the benchmarks: an alert, each with an id and a device of its own. With more payload than an alert may
/// have it is a VoIP push.
struct BenchMessage: Sendable {
    /// Of the message as it is when nothing else is asked for.
    static let bytes = 450
    /// Of its payload.
    static let payloadBytes = 205
    private static let beforeFiller = #","filler":""#

    private let round: Int
    private let apps: Int
    private let payload: String
    private let pushType: PushType

    /// - Parameters:
    ///   - round: makes the ids of one filling differ from those of another.
    ///   - apps: that the messages go to, in turns.
    ///   - payloadBytes: as it is, or more.
    init(round: Int, apps: Int = 1, payloadBytes: Int = Self.payloadBytes) {
        self.round = round
        self.apps = apps
        payload = Self.payload(bytes: payloadBytes)
        pushType = Self.pushType(payloadBytes: payloadBytes)
    }

    static func pushType(payloadBytes: Int) -> PushType {
        payloadBytes <= PushType.alert.payloadBytesMax ? .alert : .voip
    }

    /// Of so many bytes, at least `payloadBytes`.
    static func payload(bytes: Int) -> String {
        let more = bytes - payloadBytes
        let fillerBytes = more - beforeFiller.utf8.count - 1
        // A few bytes have no room for a member.
        let filler =
            fillerBytes < 0
            ? String(repeating: " ", count: more) : beforeFiller + String(repeating: "x", count: fillerBytes) + "\""
        return LoadGenerator.payload.dropLast() + filler + "}"
    }

    /// The bundle IDs that `apps` apps have, all of one length.
    static func bundleIDs(_ apps: Int) -> [String] { (0..<apps).map { bundleID($0, of: apps) } }

    private static func bundleID(_ number: Int, of apps: Int) -> String {
        apps == 1 ? "com.example.app" : "com.ex.a" + digits(number, count: 7, radix: 10)
    }

    func message(_ number: Int, queue: String) -> OutgoingMessage {
        message(number, app: Self.bundleID(number % apps, of: apps), queue: queue)
    }

    /// - Parameter app: to be as long as that of all others.
    func message(_ number: Int, app: String, queue: String) -> OutgoingMessage {
        let id = "00000000-0000-4000-8\(Self.digits(round, count: 3))-\(Self.digits(number, count: 12))"
        let token = Self.digits(number, count: 64)
        let body = """
            {"id":"\(id)","app":"\(app)","device_token":"\(token)","push_type":"\(pushType.rawValue)","priority":10,\
            "expiration":1900000000,"collapse_id":"score-42","payload":\(payload)}
            """
        return OutgoingMessage(exchange: "", routingKey: queue, body: Array(body.utf8), messageID: id)
    }

    /// A number of so many digits.
    static func digits(_ number: Int, count: Int, radix: Int = 16) -> String {
        let text = String(number, radix: radix)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
