public import APNSProtocol
public import Crypto
import JSON

/// One request and its answer, as the log keeps it: nothing in it can be pushed with.
public struct LoggedRequest: Sendable {
    /// Counts from 1, in the order of the answers.
    public internal(set) var number = 0
    /// When the request had arrived whole.
    public var unixMilliseconds: Int64
    /// Counts from 1, in the order in which they were accepted.
    public var connection: Int
    public var stream: Int32
    /// nil when the request had none, or not a UUID.
    public var apnsID: UUIDValue?
    public var shortDeviceToken: ShortDeviceToken
    /// nil when the request had none, or not the form of one.
    public var topic: String?
    public var pushType: PushType?
    public var priority: Priority?
    public var payloadByteCount: Int
    /// Of the body's bytes as sent; nil unless the log is told to keep it.
    public var payloadHash: SHA256Value?
    public var answer: Answer

    /// Writes one JSON object.
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("number", number)
        json.member("unix_ms", unixMilliseconds)
        json.member("connection", connection)
        json.member("stream", Int64(stream))
        if let apnsID { json.member("apns_id", apnsID.description) }
        json.member("device_token", shortDeviceToken.description)
        if let topic { json.member("topic", topic) }
        if let pushType { json.member("push_type", pushType.rawValue) }
        if let priority { json.member("priority", Int(priority.rawValue)) }
        json.member("payload_bytes", payloadByteCount)
        if let payloadHash { json.member("payload_sha256", payloadHash.description) }
        json.member("status", answer.status)
        if let reason = answer.reason { json.member("reason", reason.text) }
        json.endObject()
    }
}

/// A SHA-256 digest by value.
public struct SHA256Value: Sendable, Hashable, CustomStringConvertible {
    private let first: UInt64, second: UInt64, third: UInt64, fourth: UInt64

    public init(of bytes: UnsafeRawBufferPointer) {
        let digest = Digest.sha256(bytes)
        func word(_ index: Int) -> UInt64 { digest[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }

    /// 64 digits of lower case hexadecimal.
    public var description: String {
        String(unsafeUninitializedCapacity: 64) { digits in
            var position = 0
            for word in [first, second, third, fourth] {
                for shift in stride(from: UInt64(60), through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: word >> shift) & 15
                    digits[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    position += 1
                }
            }
            return position
        }
    }
}

/// The first digits of a device token and its length, kept without allocation.
public struct ShortDeviceToken: Sendable, CustomStringConvertible {
    private var digits: UInt64 = 0
    private let count: Int

    init(_ token: UnsafeRawBufferPointer) {
        count = token.count
        for digit in token.prefix(8) { digits = digits << 8 | UInt64(digit) }
    }

    /// As by `DeviceToken.shortened`.
    public var description: String {
        let kept = min(count, 8)
        let first = (0..<kept).map { UInt8(truncatingIfNeeded: digits >> UInt64((kept - 1 - $0) * 8)) }
        return DeviceToken.shortened(first + repeatElement(0, count: count - kept))
    }
}
