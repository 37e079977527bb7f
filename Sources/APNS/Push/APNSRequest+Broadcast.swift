public import APNSProtocol
public import Crypto

extension APNSRequest {
    /// Creates a push to all subscribers of a channel, which updates or ends a Live Activity (Apple, "Sending broadcast
    /// push notification requests to APNs").
    ///
    /// - Parameters:
    ///   - channel: the channel's ID, as issued by APNs.
    ///   - bundleID: the bundle ID without a suffix.
    ///   - expiration: UNIX seconds. With nil or 0, APNs does not store the broadcast. A channel without storage
    ///     accepts no other values.
    ///   - deadline: UNIX seconds from which the broadcast must not be sent. Also an upper bound of a non-nil
    ///     `expiration`.
    ///   - payloadRange: a range within `payload`; nil means all of it.
    public static func broadcast(
        channel: ArraySlice<UInt8>, bundleID: [UInt8], priority: Priority? = nil, expiration: Int64? = nil,
        deadline: Int64? = nil, id: UUIDValue, payload: [UInt8], payloadRange: Range<Int>? = nil
    ) -> APNSRequest {
        // The deadline must not replace a missing expiration, because a channel without storage accepts only 0.
        let stored = expiration.map { earlier($0, deadline) ?? $0 }
        return APNSRequest(
            target: .channel(channel), topic: bundleID, pushType: .liveactivity, priority: priority,
            expiration: stored, deadline: deadline, collapseID: nil, id: id, payload: payload,
            payloadRange: payloadRange ?? payload.indices)
    }
}
