public import APNSProtocol
public import Crypto

/// One request to APNs, with its target, header values, and the byte range of its body. Each kind of request has a
/// factory method.
///
/// The type is a class, so that functions pass requests on without copying. A push shares the bytes of the
/// delivery from which it was parsed.
public final class APNSRequest: Sendable {
    /// The resource that the path names.
    public enum Target: Sendable, Hashable {
        /// A device token in hexadecimal digits.
        case device(ArraySlice<UInt8>)
        /// A broadcast channel's ID, as issued by APNs.
        case channel(ArraySlice<UInt8>)
        /// The channels of an app.
        case channels(ChannelRequest)
    }

    public let target: Target
    /// Value of `apns-topic`: the bundle ID with the suffix of the push type, if any. For a broadcast or a channel
    /// management request, the plain bundle ID, which is part of the path.
    public let topic: [UInt8]
    public let pushType: PushType
    /// Value of `apns-priority`. If nil, a device push omits the header, so APNs assumes 10. A broadcast sends 10.
    public let priority: Priority?
    /// UNIX seconds until which APNs may store the push. With 0, APNs does not store the push. If nil, a device push
    /// omits the header. A broadcast sends 0, which every channel accepts.
    public let expiration: Int64?
    /// UNIX seconds from which the request must not be sent, regardless of `expiration`; nil sets no such bound.
    public let deadline: Int64?
    /// Value of `apns-collapse-id`, of at most ``APNSLimits/collapseIDBytesMax`` bytes; nil omits the header.
    public let collapseID: ArraySlice<UInt8>?
    /// Value of `apns-id`, or of `apns-request-id` for a broadcast or a channel management request. The same for all
    /// attempts, which makes the push traceable.
    public let id: UUIDValue
    /// Bytes that contain the body, `payload[payloadRange]`. The body is sent unchanged.
    public let payload: [UInt8]
    public let payloadRange: Range<Int>

    init(
        target: Target, topic: [UInt8], pushType: PushType, priority: Priority?, expiration: Int64?,
        deadline: Int64? = nil, collapseID: ArraySlice<UInt8>?, id: UUIDValue, payload: [UInt8],
        payloadRange: Range<Int>
    ) {
        precondition(payloadRange.upperBound <= payload.count, "payload range out of bounds")
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

    /// Whether the request is a channel management request, which pushes nothing.
    var isAboutChannels: Bool { if case .channels = target { true } else { false } }

    /// UNIX seconds from which the request must not be sent; nil sets no limit. An expiration of 0 sets no limit
    /// either, because it only prevents storage by APNs.
    var sendingEnd: Int64? { Self.earlier(expiration == 0 ? nil : expiration, deadline) }

    /// Returns whether the request must no longer be sent.
    public func isExpired(unixSeconds: @autoclosure () -> Int64) -> Bool {
        guard let sendingEnd else { return false }
        return sendingEnd <= unixSeconds()
    }

    /// UNIX seconds until which the request may be sent again; 0 allows no resend, and nil sets no limit.
    public var retryDeadline: Int64? { Self.earlier(expiration, deadline) }

    static func earlier(_ first: Int64?, _ second: Int64?) -> Int64? {
        guard let first else { return second }
        return second.map { min(first, $0) } ?? first
    }
}
