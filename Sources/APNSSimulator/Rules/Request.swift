import APNSProtocol
import Crypto
import HTTP2

/// A received request: its headers and its body, in memory that later requests reuse.
///
/// Values are views into this memory, valid until the request changes. The mutable state is behind a pointer, because
/// the exclusivity checks of class properties would take a tenth of a request's time.
final class Request {
    /// Maximum header bytes of a request. The HTTP/2 session resets streams that exceed the limit.
    static let headerBytesMax = APNSLimits.headerListBytesMax
    /// Maximum body bytes that are kept, one more than the largest payload of any push type. Further bytes are only
    /// counted.
    static let bodyBytesKeptMax = 5121

    /// Maximum number of headers that are kept for the log. The headers that the rules read are kept even if they
    /// exceed this number.
    static let headersKeptMax = 128
    /// Maximum header bytes plus the overhead of the log's records.
    private static let headerStoreBytesMax =
        headerBytesMax + (headersKeptMax + RequestField.allCases.count) * HeaderRecord.prefixBytes

    private struct Contents {
        var headers = ByteStore()
        var body = ByteStore()
        var bodyByteCount = 0
        var hasDuplicateHeaders = false
        /// Whether a header that the rules read is repeated with a different value.
        var hasContradictions = false
        var id: UUIDValue?
        /// Whether the headers that the rules do not read are also kept, as records for the log.
        var keepsAll = false
        var headersKept = 0
        var hasMalformedHeader = false
        var hidesMalformedValue = false
    }

    /// The position of a header's value. A negative count means that the header is missing.
    private struct Place {
        var start: Int32 = 0
        var count: Int32 = -1
    }

    private let contents = UnsafeMutablePointer<Contents>.allocate(capacity: 1)
    private let places = UnsafeMutablePointer<Place>.allocate(capacity: RequestField.allCases.count)

    init() {
        contents.initialize(to: Contents())
        places.initialize(repeating: Place(), count: RequestField.allCases.count)
    }

    deinit {
        contents.pointee.headers.deallocate()
        contents.pointee.body.deallocate()
        contents.deinitialize(count: 1)
        contents.deallocate()
        places.deallocate()
    }

    /// Clears the request for reuse.
    ///
    /// - Parameter keepsAll: whether to keep also the headers that the rules do not read, for ``headerRecords``.
    func reset(keepsAll: Bool = false) {
        contents.pointee.keepsAll = keepsAll
        contents.pointee.headersKept = 0
        contents.pointee.hasMalformedHeader = false
        contents.pointee.hidesMalformedValue = false
        contents.pointee.headers.count = 0
        contents.pointee.body.count = 0
        contents.pointee.bodyByteCount = 0
        contents.pointee.hasDuplicateHeaders = false
        contents.pointee.hasContradictions = false
        contents.pointee.id = nil
        places.update(repeating: Place(), count: RequestField.allCases.count)
    }

    /// Adds a header. Names are compared case-sensitively, because HTTP/2 has only lower-case names.
    func addHeader(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation = HeaderRepresentation(nil)
    ) {
        guard let field = RequestField(name: name) else {
            keep(name, value, representation)
            return
        }
        guard places[Int(field.rawValue)].count < 0 else {
            contents.pointee.hasDuplicateHeaders = true
            if let first = self[field], !value.elementsEqual(first) { contents.pointee.hasContradictions = true }
            // The rules read only the first value, so the signature of a later value is not needed.
            let shown = field == .authorization ? value.count - HeaderRecord.secret(in: value).count : value.count
            keep(name, UnsafeRawBufferPointer(rebasing: value[..<shown]), representation)
            return
        }
        guard contents.pointee.headers.count + name.count + value.count <= Self.headerStoreBytesMax else { return }
        if contents.pointee.keepsAll {
            HeaderRecord.append(name: name, value: value, representation, to: &contents.pointee.headers)
            contents.pointee.headersKept += 1
        } else {
            contents.pointee.headers.append(value)
        }
        places[Int(field.rawValue)] = Place(
            start: Int32(contents.pointee.headers.count - value.count), count: Int32(value.count))
        if field == .apnsID { contents.pointee.id = UUIDValue(value) }
    }

    /// Adds the header that makes the request malformed, as its last header. Ignores further malformed headers.
    ///
    /// - Parameter value: the value; nil if it must not be shown. The method also drops a value for which the log has
    ///   no room.
    func addMalformedHeader(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?) {
        guard !hasMalformedHeader else { return }
        // Compare the letters only, because other bytes may make the name malformed.
        let letters = name.map(lowercased).filter { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
        let isSecret = letters.elementsEqual(HeaderName.authorization.bytes)
        let representation = HeaderRepresentation(nil)
        let isShown =
            value.map { value in
                let shown = value.count - (isSecret ? HeaderRecord.secret(in: value).count : 0)
                return keep(name, UnsafeRawBufferPointer(rebasing: value[..<shown]), representation)
            } ?? false
        contents.pointee.hasMalformedHeader =
            isShown || keep(name, UnsafeRawBufferPointer(start: nil, count: 0), representation)
        contents.pointee.hidesMalformedValue = hasMalformedHeader && !isShown
    }

    /// Whether the value of the malformed header was dropped.
    var hidesMalformedValue: Bool { contents.pointee.hidesMalformedValue }

    /// Whether the last header makes the request malformed.
    var hasMalformedHeader: Bool { contents.pointee.hasMalformedHeader }

    /// Keeps a header for the log only, if there is room. Returns whether the header was kept.
    @discardableResult
    private func keep(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ representation: HeaderRepresentation
    ) -> Bool {
        guard contents.pointee.keepsAll, contents.pointee.headersKept < Self.headersKeptMax,
            contents.pointee.headers.count + name.count + value.count <= Self.headerStoreBytesMax
        else { return false }
        HeaderRecord.append(name: name, value: value, representation, to: &contents.pointee.headers)
        contents.pointee.headersKept += 1
        return true
    }

    /// The kept headers in their order as ``HeaderRecord``s; empty unless `reset` was called with `keepsAll`.
    var headerRecords: UnsafeRawBufferPointer {
        let store = contents.pointee.headers.bytes
        return contents.pointee.keepsAll ? store : UnsafeRawBufferPointer(rebasing: store[..<0])
    }

    /// The range of the value of `authorization` in ``headerRecords``; nil if the header is missing or not kept.
    var authorizationRange: Range<Int>? {
        let place = places[Int(RequestField.authorization.rawValue)]
        guard contents.pointee.keepsAll, place.count >= 0 else { return nil }
        return Int(place.start)..<Int(place.start + place.count)
    }

    /// Adds a part of the body.
    func addBody(_ bytes: UnsafeRawBufferPointer) {
        // No client can send enough bytes for an overflow.
        contents.pointee.bodyByteCount &+= bytes.count
        let kept = min(bytes.count, Self.bodyBytesKeptMax - contents.pointee.body.count)
        contents.pointee.body.append(UnsafeRawBufferPointer(rebasing: bytes[..<kept]))
    }

    /// Returns the header's value; nil if the header is missing.
    subscript(field: RequestField) -> UnsafeRawBufferPointer? {
        let place = places[Int(field.rawValue)]
        guard place.count >= 0 else { return nil }
        return UnsafeRawBufferPointer(
            rebasing: contents.pointee.headers.bytes[Int(place.start)..<Int(place.start + place.count)])
    }

    /// The value of `apns-id`; nil if the header is missing or not a UUID.
    var id: UUIDValue? { contents.pointee.id }

    /// The request's ID in the log: `apns-id` if it is a UUID, otherwise `apns-request-id`; nil if neither is a UUID.
    var loggedID: UUIDValue? { id ?? self[.apnsRequestID].flatMap { UUIDValue($0) } }

    /// The part of the path after `/3/device/`; empty for other paths.
    var deviceToken: UnsafeRawBufferPointer {
        let prefix = RequestPath.devicePrefix
        guard let path = self[.path], path.starts(with: prefix) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
    }

    /// Whether the path begins like the path of a broadcast.
    var isBroadcast: Bool {
        guard let path = self[.path] else { return false }
        return path.starts(with: RequestPath.broadcastPrefix)
    }

    /// Whether the method is HEAD, whose answer has no body (RFC 9110, 9.3.2).
    var isHead: Bool { self[.method]?.equals("HEAD") == true }

    /// Returns whether the request repeats a header that the rules read, in a way that the rules refuse.
    func hasDuplicateHeaders(_ options: RuleOptions) -> Bool {
        options.acceptsEqualDuplicates ? contents.pointee.hasContradictions : contents.pointee.hasDuplicateHeaders
    }

    /// Number of bytes of the body as sent, including bytes that were not kept.
    var bodyByteCount: Int { contents.pointee.bodyByteCount }

    /// The kept bytes of the body, at most ``bodyBytesKeptMax``.
    var bodyBytes: UnsafeRawBufferPointer { contents.pointee.body.bytes }

    /// Whether ``bodyBytes`` is the complete body.
    var isBodyWhole: Bool { contents.pointee.body.count == contents.pointee.bodyByteCount }
}

extension UnsafeRawBufferPointer {
    /// Returns whether the bytes begin with the text.
    func starts(with text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount
            && UnsafeRawBufferPointer(rebasing: self[..<text.utf8CodeUnitCount]).equals(text)
    }
}

/// A growing buffer of bytes. Its owner must call `deallocate()`.
struct ByteStore {
    /// The memory, allocated with the first byte, because refused streams need none.
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Number of used bytes, which the owner may reduce.
    var count = 0

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let needed = count + bytes.count
        if needed > storage.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(needed, storage.count * 2, 1024), alignment: 16)
            larger.copyMemory(from: self.bytes)
            storage.deallocate()
            storage = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
        count = needed
    }

    func deallocate() { storage.deallocate() }
}

/// The request headers that the rules read.
enum RequestField: UInt8, CaseIterable {
    case method, path, authorization, apnsTopic, apnsPushType, apnsID, apnsExpiration, apnsPriority, apnsCollapseID
    case apnsChannelID, apnsRequestID, contentEncoding

    /// Creates the field with this name. Returns nil for other names.
    init?(name: UnsafeRawBufferPointer) {
        // Comparing lengths first avoids most comparisons of bytes.
        let candidates: (RequestField, RequestField?, RequestField?)
        switch name.count {
        case 5: candidates = (.path, nil, nil)
        case 7: candidates = (.apnsID, .method, nil)
        case 10: candidates = (.apnsTopic, nil, nil)
        case 13: candidates = (.apnsPriority, .authorization, nil)
        case 14: candidates = (.apnsPushType, nil, nil)
        case 15: candidates = (.apnsExpiration, .apnsChannelID, .apnsRequestID)
        case 16: candidates = (.apnsCollapseID, .contentEncoding, nil)
        default: return nil
        }
        if name.equals(candidates.0.name) {
            self = candidates.0
        } else if let second = candidates.1, name.equals(second.name) {
            self = second
        } else if let third = candidates.2, name.equals(third.name) {
            self = third
        } else {
            return nil
        }
    }

    private var name: StaticString {
        switch self {
        case .method: HeaderName.method
        case .path: HeaderName.path
        case .authorization: HeaderName.authorization
        case .apnsTopic: HeaderName.apnsTopic
        case .apnsPushType: HeaderName.apnsPushType
        case .apnsID: HeaderName.apnsID
        case .apnsExpiration: HeaderName.apnsExpiration
        case .apnsPriority: HeaderName.apnsPriority
        case .apnsCollapseID: HeaderName.apnsCollapseID
        case .apnsChannelID: HeaderName.apnsChannelID
        case .apnsRequestID: HeaderName.apnsRequestID
        case .contentEncoding: HeaderName.contentEncoding
        }
    }
}
