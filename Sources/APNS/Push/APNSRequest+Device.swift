public import APNSProtocol
public import Crypto

extension APNSRequest {
    /// Creates a push to one device (Apple, "Sending notification requests to APNs").
    ///
    /// - Parameters:
    ///   - token: the device token in hexadecimal digits.
    ///   - deadline: UNIX seconds from which the push must not be sent. Also an upper bound of `expiration`, and its
    ///     value if `expiration` is nil. APNs does not store the push beyond the deadline.
    ///   - payloadRange: a range within `payload`; nil means all of it.
    public static func device(
        token: ArraySlice<UInt8>, topic: [UInt8], pushType: PushType, priority: Priority? = nil,
        expiration: Int64? = nil, deadline: Int64? = nil, collapseID: ArraySlice<UInt8>? = nil, id: UUIDValue,
        payload: [UInt8], payloadRange: Range<Int>? = nil
    ) -> APNSRequest {
        APNSRequest(
            target: .device(token), topic: topic, pushType: pushType, priority: priority,
            expiration: earlier(expiration, deadline), deadline: deadline, collapseID: collapseID, id: id,
            payload: payload, payloadRange: payloadRange ?? payload.indices)
    }

    /// Returns the same push to another device, with another ID.
    public func addressed(to token: ArraySlice<UInt8>, id: UUIDValue) -> APNSRequest {
        APNSRequest(
            target: .device(token), topic: topic, pushType: pushType, priority: priority, expiration: expiration,
            deadline: deadline, collapseID: collapseID, id: id, payload: payload, payloadRange: payloadRange)
    }
}
