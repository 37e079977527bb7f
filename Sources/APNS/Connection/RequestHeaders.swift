import APNSProtocol
import Crypto
import HTTP2

/// A writer of the header fields of requests on one connection.
///
/// Fields that rarely change on a connection are indexed (HPACK). The path and the provider token are never indexed. Of
/// a field that differs with each request, such as the ID, only the first occurrence is indexed. The field's name thus
/// enters the peer's table (Apple, "Sending notification requests to APNs").
struct RequestHeaders {
    let authority: [UInt8]
    private var hasSentID = false
    private var hasSentRequestID = false
    private var hasSentExpiration = false
    private var hasSentCollapseID = false

    init(authority: [UInt8]) {
        self.authority = authority
    }

    /// Replaces the contents of `block` with the header fields of a request.
    ///
    /// - Parameter token: the provider token; nil if the credential is a certificate.
    mutating func write(_ request: APNSRequest, token: ProviderToken?, to block: inout HeaderBlock) {
        block.removeAll()
        var method: StaticString = "POST"
        if case .channels(let channels) = request.target { method = channels.method }
        block.append(HeaderName.method, method)
        block.append(HeaderName.scheme, "https")
        switch request.target {
        case .device(let digits): writePath(RequestPath.devicePrefix, digits, to: &block)
        case .channel: writePath(RequestPath.broadcastPrefix, request.topic[...], to: &block)
        case .channels(let channels):
            let folder = channels == .list ? RequestPath.allChannels : RequestPath.channels
            writePath(RequestPath.channelPrefix, (request.topic + folder.bytes)[...], to: &block)
        }
        block.append(HeaderName.authority, authority)
        if let token { block.append(HeaderName.authorization, token.authorization, indexing: .never) }
        switch request.target {
        case .device: writeDevice(request, to: &block)
        case .channel(let id): writeBroadcast(request, channel: id, to: &block)
        case .channels(let channels): writeChannels(request, channels, to: &block)
        }
    }

    private func writePath(_ prefix: StaticString, _ rest: ArraySlice<UInt8>, to block: inout HeaderBlock) {
        block.append(
            HeaderName.path, valueBytesMax: prefix.utf8CodeUnitCount + rest.count, indexing: .never
        ) { space in
            let prefix = prefix.bytes
            space.copyMemory(from: prefix)
            rest.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: space[prefix.count...]).copyMemory(from: $0)
            }
            return prefix.count + rest.count
        }
    }

    private mutating func writeDevice(_ request: APNSRequest, to block: inout HeaderBlock) {
        block.append(HeaderName.apnsTopic, request.topic)
        block.append(HeaderName.apnsPushType, request.pushType.wireText)
        writeID(HeaderName.apnsID, request, Self.indexing(&hasSentID), to: &block)
        if let priority = request.priority { block.append(HeaderName.apnsPriority, priority.wireText) }
        if let expiration = request.expiration { writeExpiration(expiration, to: &block) }
        if let collapseID = request.collapseID {
            let indexing = Self.indexing(&hasSentCollapseID)
            collapseID.withUnsafeBytes { block.append(HeaderName.apnsCollapseID, $0, indexing: indexing) }
        }
    }

    /// Writes the header fields of a broadcast. The fields always include priority and expiration, which broadcasts
    /// require (Apple, "Sending broadcast push notification requests to APNs").
    private mutating func writeBroadcast(
        _ request: APNSRequest, channel: ArraySlice<UInt8>, to block: inout HeaderBlock
    ) {
        channel.withUnsafeBytes { block.append(HeaderName.apnsChannelID, $0) }
        block.append(HeaderName.apnsPushType, request.pushType.wireText)
        writeID(HeaderName.apnsRequestID, request, Self.indexing(&hasSentRequestID), to: &block)
        block.append(HeaderName.apnsPriority, (request.priority ?? .immediate).wireText)
        writeExpiration(request.expiration ?? 0, to: &block)
    }

    private mutating func writeChannels(
        _ request: APNSRequest, _ channels: ChannelRequest, to block: inout HeaderBlock
    ) {
        writeID(HeaderName.apnsRequestID, request, Self.indexing(&hasSentRequestID), to: &block)
        if let id = channels.channelID { block.append(HeaderName.apnsChannelID, Array(id.utf8)) }
    }

    private func writeID(
        _ name: StaticString, _ request: APNSRequest, _ indexing: HeaderBlock.Indexing, to block: inout HeaderBlock
    ) {
        block.append(name, valueBytesMax: UUIDValue.textBytes, indexing: indexing) { request.id.write(to: $0) }
    }

    private mutating func writeExpiration(_ expiration: Int64, to block: inout HeaderBlock) {
        block.append(HeaderName.apnsExpiration, expiration, indexing: Self.indexing(&hasSentExpiration))
    }

    private static func indexing(_ hasSent: inout Bool) -> HeaderBlock.Indexing {
        defer { hasSent = true }
        return hasSent ? .never : .indexed
    }

    /// Returns whether the device token is well-formed and all other values are valid as values of header fields.
    static func canSend(_ request: APNSRequest) -> Bool {
        switch request.target {
        case .device(let digits): guard DeviceToken.isWellFormed(digits) else { return false }
        case .channel(let id): guard isWellFormed(id) else { return false }
        case .channels(let channels):
            guard isWellFormed(Array((channels.channelID ?? "").utf8)[...]) else { return false }
        }
        guard isWellFormed(request.topic[...]) else { return false }
        return request.collapseID.map(isWellFormed) ?? true
    }

    private static func isWellFormed(_ value: ArraySlice<UInt8>) -> Bool {
        value.withUnsafeBytes { HeaderBlock.isWellFormedValue($0) }
    }
}
