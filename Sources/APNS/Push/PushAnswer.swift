public import APNSProtocol

/// An answer to a push. `AnswerVerdict` decides its meaning.
public struct PushAnswer: Sendable, Hashable {
    public var status: Int
    /// nil if the answer has no body, as with 200. A body in another form becomes an unknown reason, truncated.
    public var reason: Reason?
    /// Whether APNs sent the answer: status 200, or a body in the form of APNs. Otherwise, a proxy may have sent it.
    public var isFromAPNS: Bool
    /// The number of the connection that received the answer. Unique within the pool.
    public var connection: Int
    /// With status 410: the last time when APNs confirmed the device token to be invalid, in UNIX milliseconds, as
    /// received.
    public var timestampMilliseconds: Int64?
    /// `apns-unique-id`. The sandbox sends it in all answers, both environments send it in answers to broadcasts.
    public var apnsUniqueID: String?
    /// `apns-request-id`, present in answers to broadcasts.
    public var apnsRequestID: String?
    /// The contents of a channel management answer.
    public var channel: ChannelAnswer?
    /// `retry-after`, which Apple does not document. Used as a lower bound of the delay.
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
