public import APNSProtocol

/// An answer to a push. What it means for the message is decided by `AnswerVerdict`.
public struct PushAnswer: Sendable, Hashable {
    public var status: Int
    /// nil when the body had none: always with 200, and in answers of proxies. A body that cannot be read is kept as an
    /// unknown reason, cut short.
    public var reason: Reason?
    /// Whether APNs itself has spoken: 200, or a body of its form. Else it was something between, or nobody knows.
    public var isFromAPNS: Bool
    /// The connection that it came on: a number that the pool gives to no other.
    public var connection: Int
    /// With 410: when APNs last found the device token dead, in UNIX milliseconds as given.
    public var timestampMilliseconds: Int64?
    /// `apns-unique-id`, which the development environment sends, and both to broadcasts.
    public var apnsUniqueID: String?
    /// `apns-request-id`, which comes with answers to broadcasts.
    public var apnsRequestID: String?
    /// Of channel management.
    public var channel: ChannelAnswer?
    /// `retry-after`, which nobody documents: a lower bound if it comes.
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
