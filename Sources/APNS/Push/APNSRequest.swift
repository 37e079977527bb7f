public import APNSProtocol
public import Crypto

/// One request in the form in which it goes to APNs: where to, header fields, and the range of bytes that is its body.
/// Builders make it, one for each kind of request; pool and connection know nothing else.
///
/// A reference, since it passes through many hands on its way; it shares the bytes of the message that it was read from.
public final class APNSRequest: Sendable {
    /// What the path names.
    public enum Target: Sendable, Hashable {
        /// A device token in hexadecimal digits.
        case device(ArraySlice<UInt8>)
        /// A broadcast channel's ID, as APNs gave it out.
        case channel(ArraySlice<UInt8>)
        /// The channels of an app.
        case channels(ChannelRequest)
    }

    public let target: Target
    /// Value of `apns-topic`: the bundle ID with the suffix of the push type. Of a broadcast the bundle ID alone, which
    /// stands in the path.
    public let topic: [UInt8]
    public let pushType: PushType
    /// nil leaves it to APNs, which then takes 10; a broadcast says so.
    public let priority: Priority?
    /// UNIX seconds until which APNs may store the push; 0 is one attempt, nil leaves it to APNs. A broadcast has to say
    /// something, and 0 is what every channel takes.
    public let expiration: Int64?
    /// UNIX seconds from which on the request must not be sent, whatever `expiration` says; nil sets no such bound.
    public let deadline: Int64?
    /// At most ``APNSLimits/collapseIDBytesMax`` bytes.
    public let collapseID: ArraySlice<UInt8>?
    /// Becomes the `apns-id`, of a broadcast the `apns-request-id`. The same at every try, so that a push can be traced.
    public let id: UUIDValue
    /// The body is `payload[payloadRange]`, sent as it is.
    public let payload: [UInt8]
    public let payloadRange: Range<Int>

    init(
        target: Target, topic: [UInt8], pushType: PushType, priority: Priority?, expiration: Int64?,
        deadline: Int64? = nil, collapseID: ArraySlice<UInt8>?, id: UUIDValue, payload: [UInt8],
        payloadRange: Range<Int>
    ) {
        precondition(payloadRange.upperBound <= payload.count, "a payload outside of its bytes")
        self.target = target
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.deadline = deadline
        self.collapseID = collapseID
        self.id = id
        self.payload = payload
        self.payloadRange = payloadRange
    }

    /// Whether it asks for something about channels, and pushes nothing.
    var isAboutChannels: Bool { if case .channels = target { true } else { false } }

    /// UNIX seconds from which on it is too late to send it; nil if it never is. An expiration of 0 sets no end: it asks for
    /// one attempt now.
    var sendingEnd: Int64? { Self.earlier(expiration == 0 ? nil : expiration, deadline) }

    /// Whether it is too late to send it.
    public func isExpired(unixSeconds: @autoclosure () -> Int64) -> Bool {
        guard let sendingEnd else { return false }
        return sendingEnd <= unixSeconds()
    }

    /// UNIX seconds until which it may be sent again: 0 asks for one attempt; nil sets no limit.
    public var retryDeadline: Int64? { Self.earlier(expiration, deadline) }

    static func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
        guard let one else { return other }
        return other.map { min(one, $0) } ?? one
    }
}
