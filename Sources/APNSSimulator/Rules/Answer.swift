public import APNSProtocol

/// The answer to a request, without the request IDs, which the server adds.
public struct Answer: Sendable, Hashable {
    public enum Body: Sendable, Hashable {
        /// No body, as in most successful answers.
        case none
        /// An object `{"reason":…}`. The timestamp is the time at which the device token became inactive, in
        /// milliseconds since 1970. APNs sends the timestamp with status 410. nil omits the timestamp.
        case reason(Reason, timestampMilliseconds: Int64? = nil)
        /// A JSON text.
        case json([UInt8])
        /// Any bytes with any content type. Only faults send such bodies.
        case raw(contentType: String, [UInt8])
    }

    public var status: Int
    public var body: Body
    /// Value of `apns-channel-id`, the ID of the created channel; nil omits the header.
    public var channelID: String?
    /// Value of `retry-after`; nil omits the header. APNs is not known to send the header.
    public var retryAfterSeconds: Int?

    public init(status: Int, body: Body = .none, channelID: String? = nil, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.body = body
        self.channelID = channelID
        self.retryAfterSeconds = retryAfterSeconds
    }

    public static let accepted = Answer(status: 200)

    /// Returns the answer for a reason, with its documented status. An undocumented spelling has the status of the
    /// documented spelling. An unknown reason has status 400.
    public static func refused(_ reason: Reason) -> Answer {
        let status = reason.status ?? Array(reason.text.utf8).withUnsafeBytes { Reason($0) }.status
        return Answer(status: status ?? 400, body: .reason(reason))
    }

    /// Returns an answer with status 410 and a timestamp.
    public static func gone(_ reason: Reason, timestampMilliseconds: Int64) -> Answer {
        Answer(status: 410, body: .reason(reason, timestampMilliseconds: timestampMilliseconds))
    }

    public var isSuccess: Bool { 200..<300 ~= status }

    /// The reason in the body; nil for a body without a reason.
    public var reason: Reason? {
        if case .reason(let reason, _) = body { reason } else { nil }
    }

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
