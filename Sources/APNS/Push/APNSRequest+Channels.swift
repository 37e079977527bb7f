import APNSProtocol
public import Crypto

extension APNSRequest {
    /// Creates a channel management request. The pool that sends the request must accept answers of up to
    /// ``ChannelRequest/answerBytesMax`` bytes.
    ///
    /// - Parameter bundleID: the bundle ID without a suffix.
    public static func channels(_ request: ChannelRequest, bundleID: [UInt8], id: UUIDValue) -> APNSRequest {
        let body = Array(request.body.utf8)
        return APNSRequest(
            target: .channels(request), topic: bundleID, pushType: .liveactivity, priority: nil, expiration: nil,
            collapseID: nil, id: id, payload: body, payloadRange: body.indices)
    }
}
