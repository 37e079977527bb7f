import AMQP
import APNSProtocol
import TestKit

/// A template for the requests of the benchmarks.
///
/// The requests are alerts with different IDs and devices. With a payload that is too large for an alert, the requests
/// are VoIP pushes.
struct BenchMessage: Sendable {
    /// The size of a request with the default payload, in bytes.
    static let bytes = 450
    /// The size of the default payload, which is also the smallest, in bytes.
    static let payloadBytes = 205
    private static let beforeFiller = #","filler":""#

    private let round: Int
    private let apps: Int
    private let payload: String
    private let pushType: PushType
    private let users: UserGroup?

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - round: A part of the IDs, so that the IDs of different rounds differ.
    ///   - apps: The number of apps, to which requests are assigned in rotation.
    ///   - payloadBytes: The payload size, at least `Self.payloadBytes`.
    ///   - users: The users of the requests, in rotation; nil for requests to device tokens.
    init(round: Int, apps: Int = 1, payloadBytes: Int = Self.payloadBytes, users: UserGroup? = nil) {
        self.round = round
        self.apps = apps
        self.users = users
        payload = Self.payload(bytes: payloadBytes)
        pushType = Self.pushType(payloadBytes: payloadBytes)
    }

    static func pushType(payloadBytes: Int) -> PushType {
        payloadBytes <= PushType.alert.payloadBytesMax ? .alert : .voip
    }

    /// Returns a payload of `bytes` bytes. `bytes` must be at least `payloadBytes`.
    static func payload(bytes: Int) -> String {
        let more = bytes - payloadBytes
        let fillerBytes = more - beforeFiller.utf8.count - 1
        // If the additional bytes are too few for a JSON member, spaces fill the payload.
        let filler =
            fillerBytes < 0
            ? String(repeating: " ", count: more) : beforeFiller + String(repeating: "x", count: fillerBytes) + "\""
        return LoadGenerator.payload.dropLast() + filler + "}"
    }

    /// Returns the bundle IDs of `apps` apps, all of the same length.
    static func bundleIDs(_ apps: Int) -> [String] { (0..<apps).map { bundleID($0, of: apps) } }

    private static func bundleID(_ number: Int, of apps: Int) -> String {
        apps == 1 ? "com.example.app" : "com.ex.a" + digits(number, count: 7, radix: 10)
    }

    func message(_ number: Int, queue: String) -> OutgoingMessage {
        message(number, app: Self.bundleID(number % apps, of: apps), queue: queue)
    }

    /// Returns the request with a number. The number determines the device or user and, with the round, the ID.
    ///
    /// - Parameter app: A bundle ID. The bundle IDs of all requests must have the same length.
    func message(_ number: Int, app: String, queue: String) -> OutgoingMessage {
        let id = "00000000-0000-4000-8\(Self.digits(round, count: 3))-\(Self.digits(number, count: 12))"
        let target =
            users.map { #""user":"\#($0.user(number % $0.count))""# }
            ?? #""device_token":"\#(Self.digits(number, count: 64))""#
        let body = """
            {"id":"\(id)","app":"\(app)",\(target),"push_type":"\(pushType.rawValue)","priority":10,\
            "expiration":1900000000,"collapse_id":"score-42","payload":\(payload)}
            """
        return OutgoingMessage(exchange: "", routingKey: queue, body: Array(body.utf8), messageID: id)
    }

    /// Returns the number in base `radix`, with leading zeros up to `count` digits.
    static func digits(_ number: Int, count: Int, radix: Int = 16) -> String {
        let text = String(number, radix: radix)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
