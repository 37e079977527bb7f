public import APNSProtocol

/// What APNs answers a request, apart from the ids, which the server makes.
public struct Answer: Sendable, Hashable {
    public enum Body: Sendable, Hashable {
        /// Nothing, as with most successes.
        case none
        /// `{"reason":…}`; the timestamp only with status 410: when the device token was found inactive, in
        /// milliseconds since 1970.
        case reason(Reason, timestampMilliseconds: Int64? = nil)
        /// A JSON text.
        case json([UInt8])
        /// Any bytes, with the content type that they are given for; APNs itself never answers so.
        case raw(contentType: String, [UInt8])
    }

    public var status: Int
    public var body: Body
    /// Goes into `apns-channel-id`: the channel that was made.
    public var channelID: String?
    /// Goes into `retry-after`, which APNs is not known to send.
    public var retryAfterSeconds: Int?

    public init(status: Int, body: Body = .none, channelID: String? = nil, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.body = body
        self.channelID = channelID
        self.retryAfterSeconds = retryAfterSeconds
    }

    public static let accepted = Answer(status: 200)

    /// The answer of this reason, with its documented status; a second spelling has the first one's.
    public static func refused(_ reason: Reason) -> Answer {
        let status = reason.status ?? Array(reason.text.utf8).withUnsafeBytes { Reason($0) }.status
        return Answer(status: status ?? 400, body: .reason(reason))
    }

    /// 410 with its timestamp.
    public static func gone(_ reason: Reason, timestampMilliseconds: Int64) -> Answer {
        Answer(status: 410, body: .reason(reason, timestampMilliseconds: timestampMilliseconds))
    }

    public var isSuccess: Bool { 200..<300 ~= status }

    /// The reason that the body names; nil with success and in crafted bodies.
    public var reason: Reason? {
        if case .reason(let reason, _) = body { reason } else { nil }
    }

    /// The body as sent.
    public var bodyBytes: [UInt8] {
        switch body {
        case .none: return []
        case .json(let bytes), .raw(_, let bytes): return bytes
        case .reason(let reason, let timestampMilliseconds):
            var bytes = Array(#"{"reason":""#.utf8)
            bytes.append(contentsOf: reason.text.utf8)
            bytes.append(UInt8(ascii: "\""))
            if let timestampMilliseconds {
                bytes.append(contentsOf: #","timestamp":"#.utf8)
                bytes.append(contentsOf: String(timestampMilliseconds).utf8)
            }
            bytes.append(UInt8(ascii: "}"))
            return bytes
        }
    }
}
