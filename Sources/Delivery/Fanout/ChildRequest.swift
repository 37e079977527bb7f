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
        tokenKey.withText { UUIDValue(name: $0, namespace: request) }
    }
}

/// A template for the children of a request to users. A child has the bytes of the request, with a device token instead
/// of the users, another id, and no scope.
struct ChildTemplate {
    private enum Part {
        case bytes(ArraySlice<UInt8>)
        case target
        case id
        /// The target and the id, for a request without the member `id`.
        case targetAndID
        case nothing
    }

    private static let target = Array(#""device_token":""#.utf8)
    private static let id = Array(#""id":""#.utf8)
    private static let editsMax = 3
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
        var edits: [(range: Range<Int>, part: Part)] = []
        edits.reserveCapacity(Self.editsMax)
        edits.append((audience.targetRange, audience.idRange == nil ? .targetAndID : .target))
        if let range = audience.idRange { edits.append((range, .id)) }
        if let range = audience.scopeRange { edits.append((range, .nothing)) }
        edits.sort { $0.range.lowerBound < $1.range.lowerBound }
        var parts: [Part] = []
        parts.reserveCapacity(2 * Self.editsMax + 1)
        var start = audience.requestRange.lowerBound
        for edit in edits {
            parts.append(.bytes(body[start..<edit.range.lowerBound]))
            parts.append(edit.part)
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
            case .target: Self.append(device.token, to: &body)
            case .id: Self.append(id, to: &body)
            case .targetAndID:
                Self.append(device.token, to: &body)
                body.append(UInt8(ascii: ","))
                Self.append(id, to: &body)
            case .nothing: break
            }
        }
        return ChildRequest(id: id, body: body)
    }

    private static func append(_ token: String, to body: inout [UInt8]) {
        body += target
        body += token.utf8
        body.append(UInt8(ascii: "\""))
    }

    private static func append(_ id: UUIDValue, to body: inout [UInt8]) {
        body += Self.id
        id.withText { body += $0 }
        body.append(UInt8(ascii: "\""))
    }
}
