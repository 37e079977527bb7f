import Crypto
import Registrations

/// A template for the requests to the devices of an audience, its children. A child has the bytes of the request to
/// users. It has a device token instead of the users, another id, and no scope.
///
/// The id and body of a child are the same at every expansion. The memory of duplicates therefore recognizes a repeated
/// child.
struct ChildTemplate {
    private enum Replacement {
        case target
        case id
        /// The target and the id, for a request without the member `id`.
        case targetAndID
        case nothing
    }

    private static let target = Array(#""device_token":""#.utf8)
    private static let id = Array(#""id":""#.utf8)
    /// An upper bound of the bytes that the id and the target of a child add. Excludes the device token.
    private static let addedBytesMax = 64 + 2 * UUIDValue.textBytes

    private let request: UUIDValue
    /// The bytes to which the ranges refer.
    private let bytes: [UInt8]
    private let requestRange: Range<Int>
    private let edits: Edits
    /// The approximate size of a child, without its token.
    let childBytes: Int

    /// Creates the template for an audience.
    ///
    /// - Parameter body: The bytes to which the ranges of the audience refer.
    init(_ audience: Audience, body: [UInt8]) {
        (request, bytes, requestRange) = (audience.id, body, audience.requestRange)
        var edits = Edits(audience.targetRange, audience.idRange == nil ? .targetAndID : .target)
        if let range = audience.idRange { edits.insert(range, .id) }
        if let range = audience.scopeRange { edits.insert(range, .nothing) }
        self.edits = edits
        childBytes = requestRange.count + Self.addedBytesMax - edits.removedBytes
    }

    /// Returns the id of the child of a request for a device.
    ///
    /// - Parameter tokenKey: The `token_key` of the device's registration.
    static func childID(of request: UUIDValue, tokenKey: UUIDValue) -> UUIDValue {
        tokenKey.withText { UUIDValue(name: $0, namespace: request) }
    }

    func id(for device: FoundDevice) -> UUIDValue { Self.childID(of: request, tokenKey: device.key.token) }

    /// Returns the number of bytes to reserve for the child for a device.
    func bytesReserved(for device: FoundDevice) -> Int { childBytes + device.tokenDigits.count }

    /// Appends the child for a device to a message.
    func append(_ device: FoundDevice, _ id: UUIDValue, to body: inout [UInt8]) {
        var start = requestRange.lowerBound
        for index in 0..<edits.count {
            let edit = edits[index]
            body += bytes[start..<edit.range.lowerBound]
            switch edit.replacement {
            case .target: Self.append(device.tokenDigits, to: &body)
            case .id: Self.append(id, to: &body)
            case .targetAndID:
                Self.append(device.tokenDigits, to: &body)
                body.append(UInt8(ascii: ","))
                Self.append(id, to: &body)
            case .nothing: break
            }
            start = edit.range.upperBound
        }
        body += bytes[start..<requestRange.upperBound]
    }

    private static func append(_ token: [UInt8], to body: inout [UInt8]) {
        body += target
        body += token
        body.append(UInt8(ascii: "\""))
    }

    private static func append(_ id: UUIDValue, to body: inout [UInt8]) {
        body += Self.id
        id.withText { body += $0 }
        body.append(UInt8(ascii: "\""))
    }
}

extension ChildTemplate {
    /// The edits in ascending order, without an allocation.
    private struct Edits {
        typealias Edit = (range: Range<Int>, replacement: Replacement)

        private static let countMax = 3

        private(set) var count = 1
        private var edits: [3 of Edit]

        init(_ range: Range<Int>, _ replacement: Replacement) { edits = .init(repeating: (range, replacement)) }

        subscript(index: Int) -> Edit { edits[index] }

        /// The number of bytes that the edits replace.
        var removedBytes: Int { (0..<count).reduce(0) { $0 + edits[$1].range.count } }

        mutating func insert(_ range: Range<Int>, _ replacement: Replacement) {
            precondition(count < Self.countMax, "too many edits")
            var place = count
            while place > 0, edits[place - 1].range.lowerBound > range.lowerBound {
                edits[place] = edits[place - 1]
                place -= 1
            }
            edits[place] = (range, replacement)
            count += 1
        }
    }
}
