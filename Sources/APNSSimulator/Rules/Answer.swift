public import APNSProtocol

/// What APNs answers a request, apart from the ids.
public struct Answer: Sendable, Hashable {
    public var status: Int
    /// Goes into the body; nil with success.
    public var reason: Reason?
    /// Only with status 410: when the device token was found inactive, in milliseconds since 1970.
    public var timestampMilliseconds: Int64?

    public static let accepted = Answer(status: 200, reason: nil, timestampMilliseconds: nil)

    /// The answer of this reason, with its documented status.
    public static func refused(_ reason: Reason) -> Answer {
        Answer(status: reason.status ?? 400, reason: reason, timestampMilliseconds: nil)
    }

    /// 410 with its timestamp.
    public static func gone(_ reason: Reason, timestampMilliseconds: Int64) -> Answer {
        Answer(status: 410, reason: reason, timestampMilliseconds: timestampMilliseconds)
    }

    /// The JSON body; empty with success.
    public var body: [UInt8] {
        guard let reason else { return [] }
        var body = Array(#"{"reason":""#.utf8)
        body.append(contentsOf: reason.text.utf8)
        body.append(UInt8(ascii: "\""))
        if let timestampMilliseconds {
            body.append(contentsOf: #","timestamp":"#.utf8)
            body.append(contentsOf: String(timestampMilliseconds).utf8)
        }
        body.append(UInt8(ascii: "}"))
        return body
    }
}
