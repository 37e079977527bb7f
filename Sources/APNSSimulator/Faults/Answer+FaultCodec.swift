import APNSProtocol
import HTTP2
import JSON

extension Answer {
    /// The codec of an answer in a fault.
    static let faultCodec = AnswerMembers.codec.converted(
        read: { answer, members throws(InputError) in try answer.answer(members) }, write: { AnswerMembers($0) })
}

/// The JSON members of an answer in a fault. The body of the answer is empty, a reason, or text of any
/// content type.
struct AnswerMembers: Sendable {
    private static let bodyBytesMax = 65_536
    private static let contentTypeBytesMax = 255
    private static let retryAfterSecondsMax = 1_000_000_000

    /// The status; nil for the status of `reason`.
    var status: Int?
    var reason: Reason?
    var timestampMilliseconds: Int64?
    var body: String?
    var contentType: String?
    var retryAfterSeconds: Int?

    static let codec = ObjectCodec(
        "an answer", from: AnswerMembers(),
        [
            .optional("status", \.status, .int(200...599), "status (default: the status of `reason`)"),
            .optional("reason", \.reason, .reason, "reason in the body"),
            .optional(
                "timestamp_ms", \.timestampMilliseconds, .int(0...Int64.max),
                "`timestamp` in the body; requires `reason`"),
            .optional("body", \.body, .text(0...bodyBytesMax), "text of the body, instead of `reason`"),
            .optional(
                "content_type", \.contentType, .headerValue(contentTypeBytesMax),
                "content type of `body` (default: `application/json`)"),
            .optional(
                "retry_after_seconds", \.retryAfterSeconds, .int(0...retryAfterSecondsMax), "`retry-after` header"),
        ])
}

extension AnswerMembers {
    init(_ answer: Answer) {
        status = answer.status
        retryAfterSeconds = answer.retryAfterSeconds
        switch answer.body {
        case .none: break
        case .reason(let reason, let timestampMilliseconds):
            (self.reason, self.timestampMilliseconds) = (reason, timestampMilliseconds)
        case .json(let bytes): body = String(decoding: bytes, as: UTF8.self)
        case .raw(let contentType, let bytes):
            (self.contentType, body) = (contentType, String(decoding: bytes, as: UTF8.self))
        }
    }

    func answer(_ members: ObjectMembers) throws(InputError) -> Answer {
        guard let status = status ?? reason?.status else {
            throw members.error("an answer requires a status, or a reason with a known status")
        }
        var answer = Answer(status: status, retryAfterSeconds: retryAfterSeconds)
        if let reason {
            guard body == nil else { throw members.error("reason", "and body are mutually exclusive") }
            guard contentType == nil else { throw members.error("reason", "and content_type are mutually exclusive") }
            answer.body = .reason(reason, timestampMilliseconds: timestampMilliseconds)
        } else {
            guard timestampMilliseconds == nil else { throw members.error("timestamp_ms", "requires a reason") }
            if let body, !body.isEmpty {
                answer.body = .raw(contentType: contentType ?? "application/json", Array(body.utf8))
            }
        }
        return answer
    }
}

extension ValueCodec<Reason> {
    /// The codec of any reason. The codec keeps the spelling of the text, even if clients treat two spellings as the
    /// same reason.
    fileprivate static var reason: Self {
        ValueCodec<String>.text(1...Reason.textBytesMax).mapped(
            read: { text in
                let known = Array(text.utf8).withUnsafeBytes { Reason($0) }
                return known.text == text ? known : .unknown(text)
            }, write: { $0.text })
    }
}

extension ValueCodec<String> {
    fileprivate static func headerValue(_ bytesMax: Int) -> Self {
        text(1...bytesMax).checked("a header value") { value in
            Array(value.utf8).withUnsafeBytes { HeaderBlock.isWellFormedValue($0) }
        }
    }
}
