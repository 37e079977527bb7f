public import APNSProtocol
public import Crypto

extension APNSRequest {
    /// A push to all who subscribe to a channel: an update or the end of a Live Activity (Apple, "Sending broadcast push
    /// notification requests to APNs").
    ///
    /// - Parameters:
    ///   - channel: the channel's ID, as APNs gave it out.
    ///   - bundleID: without a suffix.
    ///   - expiration: nil and 0 store nothing; a channel that was made without storage takes nothing else.
    ///   - deadline: UNIX seconds, a bound of `expiration` where that asks for storage.
    ///   - payloadRange: must lie within `payload`; nil means all of it.
    public static func broadcast(
        channel: ArraySlice<UInt8>, bundleID: [UInt8], priority: Priority? = nil, expiration: Int64? = nil,
        deadline: Int64? = nil, id: UUIDValue, payload: [UInt8], payloadRange: Range<Int>? = nil
    ) -> APNSRequest {
        // A channel without storage takes no other expiration than 0.
        let stored = expiration.map { earlier($0, deadline) ?? $0 }
        return APNSRequest(
            target: .channel(channel), topic: bundleID, pushType: .liveactivity, priority: priority,
            expiration: stored, deadline: deadline, collapseID: nil, id: id, payload: payload,
            payloadRange: payloadRange ?? payload.indices)
    }
}
