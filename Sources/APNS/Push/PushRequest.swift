public import APNSProtocol
public import Crypto

/// One push, as it goes to APNs. It shares the bytes of the message that it was read from.
public struct PushRequest: Sendable {
    public enum Target: Sendable, Hashable {
        /// A device token in hexadecimal digits.
        case device(ArraySlice<UInt8>)
    }

    public var target: Target
    /// Value of `apns-topic`: the bundle ID with the suffix of the push type.
    public var topic: [UInt8]
    public var pushType: PushType
    /// nil leaves it to APNs, which then takes 10.
    public var priority: Priority?
    /// UNIX seconds until which APNs may store the push; 0 is one attempt, nil leaves it to APNs.
    public var expiration: Int64?
    /// At most ``APNSLimits/collapseIDBytesMax`` bytes.
    public var collapseID: ArraySlice<UInt8>?
    /// Becomes the `apns-id`. The same at every try, so that a push can be traced.
    public var id: UUIDValue
    /// The body is `payload[payloadRange]`, sent as it is.
    public var payload: [UInt8]
    public var payloadRange: Range<Int>

    /// - Parameter payloadRange: must lie within `payload`; nil means all of it.
    public init(
        target: Target, topic: [UInt8], pushType: PushType, priority: Priority? = nil, expiration: Int64? = nil,
        collapseID: ArraySlice<UInt8>? = nil, id: UUIDValue, payload: [UInt8], payloadRange: Range<Int>? = nil
    ) {
        let range = payloadRange ?? payload.indices
        precondition(range.upperBound <= payload.count, "a payload outside of its bytes")
        self.target = target
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.id = id
        self.payload = payload
        self.payloadRange = range
    }
}
