import APNSProtocol
import Crypto
import HTTP2

/// Writes the header fields of requests on one connection.
///
/// What stays the same on a connection is indexed by HPACK; the path and what differs with each request is not. The
/// names of the latter enter the peer's table with their first use (Apple, "Sending notification requests to APNs").
struct RequestHeaders {
    let authority: [UInt8]
    private var hasSentID = false
    private var hasSentExpiration = false
    private var hasSentCollapseID = false

    init(authority: [UInt8]) {
        self.authority = authority
    }

    mutating func write(_ request: APNSRequest, token: ProviderToken, to block: inout HeaderBlock) {
        block.removeAll()
        block.append(HeaderName.method, "POST")
        block.append(HeaderName.scheme, "https")
        switch request.target {
        case .device(let digits):
            block.append(
                HeaderName.path, valueBytesMax: RequestPath.devicePrefix.utf8CodeUnitCount + digits.count,
                indexing: .never
            ) { space in
                let prefix = RequestPath.devicePrefix.bytes
                space.copyMemory(from: prefix)
                digits.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: space[prefix.count...]).copyMemory(from: $0)
                }
                return prefix.count + digits.count
            }
        }
        block.append(HeaderName.authority, authority)
        block.append(HeaderName.authorization, token.authorization, indexing: .never)
        block.append(HeaderName.apnsTopic, request.topic)
        block.append(HeaderName.apnsPushType, request.pushType.wireText)
        block.append(
            HeaderName.apnsID, valueBytesMax: UUIDValue.textBytes, indexing: Self.indexing(&hasSentID)
        ) { request.id.write(to: $0) }
        if let priority = request.priority { block.append(HeaderName.apnsPriority, priority.wireText) }
        if let expiration = request.expiration {
            block.append(HeaderName.apnsExpiration, expiration, indexing: Self.indexing(&hasSentExpiration))
        }
        if let collapseID = request.collapseID {
            let indexing = Self.indexing(&hasSentCollapseID)
            collapseID.withUnsafeBytes { block.append(HeaderName.apnsCollapseID, $0, indexing: indexing) }
        }
    }

    private static func indexing(_ hasSent: inout Bool) -> HeaderBlock.Indexing {
        defer { hasSent = true }
        return hasSent ? .never : .indexed
    }

    /// Whether all of the request's values can stand in a header.
    static func canSend(_ request: APNSRequest) -> Bool {
        switch request.target {
        case .device(let digits): guard DeviceToken.isWellFormed(digits) else { return false }
        }
        guard request.topic.withUnsafeBytes({ HeaderBlock.isWellFormedValue($0) }) else { return false }
        return request.collapseID?.withUnsafeBytes { HeaderBlock.isWellFormedValue($0) } ?? true
    }
}
