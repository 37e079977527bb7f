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
    ///   - payloadRange: must lie within `payload`; nil means all of it.
    public static func broadcast(
        channel: ArraySlice<UInt8>, bundleID: [UInt8], priority: Priority? = nil, expiration: Int64? = nil,
        id: UUIDValue, payload: [UInt8], payloadRange: Range<Int>? = nil
    ) -> APNSRequest {
        APNSRequest(
            target: .channel(channel), topic: bundleID, pushType: .liveactivity, priority: priority,
            expiration: expiration, collapseID: nil, id: id, payload: payload,
            payloadRange: payloadRange ?? payload.indices)
    }
}
