import Crypto
import Registrations

/// The request to one device of an audience. Its id and body are the same at every expansion, so that the memory of
/// duplicates recognizes a repeated child.
struct ChildRequest {
    let id: UUIDValue
    let body: [UInt8]

    /// Returns the id of the request to a device.
    ///
    /// - Parameter tokenKey: The `token_key` of the device's registration.
    static func id(of request: UUIDValue, tokenKey: UUIDValue) -> UUIDValue {
        UUIDValue(name: tokenKey.description, namespace: request)
    }
}

/// A template for the children of a request to users. A child has the bytes of the request, with a device token instead
/// of the users, another id, and no scope.
struct ChildTemplate {
    private enum Part {
        case bytes(ArraySlice<UInt8>)
        case target
        case id
    }

    private static let target = Array(#""device_token":""#.utf8)
    private static let id = Array(#""id":""#.utf8)
    /// An upper bound of the bytes that the id and the target of a child add. Excludes the device token.
    private static let addedBytesMax = 64 + 2 * UUIDValue.textBytes

    private let request: UUIDValue
    private let parts: [Part]
    private let bytesReserved: Int

    /// Creates the template for an audience.
    ///
    /// - Parameter body: The bytes to which the ranges of the audience refer.
    init(_ audience: Audience, body: [UInt8]) {
        request = audience.id
        let target: [Part] = audience.idRange == nil ? [.target, .bytes([UInt8(ascii: ",")]), .id] : [.target]
        var edits = [(range: audience.targetRange, parts: target)]
        if let range = audience.idRange { edits.append((range, [.id])) }
        if let range = audience.scopeRange { edits.append((range, [])) }
        var parts: [Part] = []
        var start = audience.requestRange.lowerBound
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            parts.append(.bytes(body[start..<edit.range.lowerBound]))
            parts += edit.parts
            start = edit.range.upperBound
        }
        parts.append(.bytes(body[start..<audience.requestRange.upperBound]))
        self.parts = parts
        bytesReserved = parts.reduce(Self.addedBytesMax) { sum, part in
            if case .bytes(let bytes) = part { sum + bytes.count } else { sum }
        }
    }

    /// The approximate size of a child, without its token.
    var childBytes: Int { bytesReserved }

    func child(for device: FoundDevice) -> ChildRequest {
        let id = ChildRequest.id(of: request, tokenKey: device.key.token)
        var body: [UInt8] = []
        body.reserveCapacity(bytesReserved + device.token.utf8.count)
        for part in parts {
            switch part {
            case .bytes(let bytes): body += bytes
            case .target: Self.append(Self.target, device.token, to: &body)
            case .id: Self.append(Self.id, id.description, to: &body)
            }
        }
        return ChildRequest(id: id, body: body)
    }

    private static func append(_ key: [UInt8], _ text: String, to body: inout [UInt8]) {
        body += key
        body += text.utf8
        body.append(UInt8(ascii: "\""))
    }
}
