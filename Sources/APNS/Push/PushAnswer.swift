public import APNSProtocol

/// APNs' answer to a push. What it means for the message is told by `AnswerVerdict`.
public struct PushAnswer: Sendable, Hashable {
    public var status: Int
    /// nil when the body had none: always with 200, and in answers of proxies. A body that cannot be read is kept as an
    /// unknown reason, cut short.
    public var reason: Reason?
    /// With 410: when APNs last found the device token dead, in UNIX milliseconds as given.
    public var timestampMilliseconds: Int64?
    /// `apns-unique-id`, which the development environment sends.
    public var apnsUniqueID: String?
    /// `retry-after`, which nobody documents: a lower bound if it comes.
    public var retryAfterSeconds: Int64?

    public init(
        status: Int, reason: Reason? = nil, timestampMilliseconds: Int64? = nil, apnsUniqueID: String? = nil,
        retryAfterSeconds: Int64? = nil
    ) {
        self.status = status
        self.reason = reason
        self.timestampMilliseconds = timestampMilliseconds
        self.apnsUniqueID = apnsUniqueID
        self.retryAfterSeconds = retryAfterSeconds
    }
}
