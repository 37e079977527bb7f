public import APNSProtocol

/// An answer to a push or to a channel management request. `AnswerVerdict` determines the meaning of the answer.
public struct PushAnswer: Sendable, Hashable {
    public var status: Int
    /// The reason of a refusal; nil for a successful channel management answer, or if the answer has no body, as usual
    /// with status 200. A body that does not have the form of APNs becomes an unknown reason, truncated.
    public var reason: Reason?
    /// Whether the answer counts as an answer of APNs, because of its status, its headers or the form of its body. If
    /// false, a proxy may have sent the answer.
    public var isFromAPNS: Bool
    /// The number of the connection that received the answer. Unique within the pool.
    public var connection: Int
    /// The last time when APNs confirmed that the device token was invalid, in UNIX milliseconds. APNs sends the time
    /// with status 410; nil if the answer contains none.
    public var timestampMilliseconds: Int64?
    /// Value of `apns-unique-id`; nil if the answer has no such header. The sandbox sends the header in all answers to
    /// pushes, production only in answers to broadcasts.
    public var apnsUniqueID: String?
    /// Value of `apns-request-id`; nil if the answer has no such header.
    public var apnsRequestID: String?
    /// The contents of a successful channel management answer; nil for other answers.
    public var channel: ChannelAnswer?
    /// Value of `retry-after`, a lower bound of the delay before a resend. nil if the header is absent or its value is
    /// not a decimal number. Apple does not document the header.
    public var retryAfterSeconds: Int64?

    public init(
        status: Int, reason: Reason? = nil, isFromAPNS: Bool = true, connection: Int = 0,
        timestampMilliseconds: Int64? = nil, apnsUniqueID: String? = nil, apnsRequestID: String? = nil,
        retryAfterSeconds: Int64? = nil
    ) {
        self.status = status
        self.reason = reason
        self.isFromAPNS = isFromAPNS
        self.connection = connection
        self.timestampMilliseconds = timestampMilliseconds
        self.apnsUniqueID = apnsUniqueID
        self.apnsRequestID = apnsRequestID
        self.retryAfterSeconds = retryAfterSeconds
    }
}
