import APNSProtocol
import Crypto
import HTTP2

/// One request as it arrived: the headers that APNs knows and the body, in memory that serves the next request again.
///
/// Bytes are handed out as views into that memory, valid until `reset()`. What changes lies behind a pointer of its own,
/// since the checks of exclusive access to a class's properties would cost a tenth of a request.
final class Request {
    /// Header bytes kept of one request; the HTTP/2 session ends streams that send more before this matters.
    static let headerBytesMax = APNSLimits.headerListBytesMax
    /// Body bytes kept of one request: one more than the greatest payload of any kind. The rest is only counted.
    static let bodyBytesKeptMax = 5121

    /// Headers kept of one request beside those that decide.
    static let headersKeptMax = 128
    /// What the HTTP/2 session lets through, and what keeping it costs.
    private static let headerStoreBytesMax =
        headerBytesMax + (headersKeptMax + RequestField.allCases.count) * HeaderRecord.prefixBytes

    private struct Contents {
        var headers = ByteStore()
        var body = ByteStore()
        var bodyByteCount = 0
        var hasDuplicateHeaders = false
        /// Whether a header that came again said something else.
        var hasContradictions = false
        var id: UUIDValue?
        /// Whether all headers are kept, framed for the log.
        var keepsAll = false
        var headersKept = 0
        var hasMalformedHeader = false
        var hidesMalformedValue = false
    }

    /// Where a header's value lies; a count below 0 says that it was not sent.
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

    /// Makes it empty for the next request.
    ///
    /// - Parameter keepsAll: keep every header as it came, for ``headerRecords``.
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

    /// Takes a header. Names are compared as they are, since HTTP/2 knows lower case only.
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
            // Only the first is read, so the signature of another need not come in.
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

    /// Takes the header that makes the request malformed; it is the last. Others of the kind are not looked at.
    ///
    /// - Parameter value: nil where nobody may see it; nor is it kept where there is no room.
    func addMalformedHeader(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?) {
        guard !hasMalformedHeader else { return }
        // Whatever stands between its letters: it may be what makes the name malformed.
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

    /// Whether the value of the last header, which makes it malformed, is not kept.
    var hidesMalformedValue: Bool { contents.pointee.hidesMalformedValue }

    /// Whether the last of its headers makes it malformed.
    var hasMalformedHeader: Bool { contents.pointee.hasMalformedHeader }

    /// Keeps a header that decides about nothing; whether there was room.
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

    /// All headers in their order as ``HeaderRecord``s; empty unless `reset` was told to keep them.
    var headerRecords: UnsafeRawBufferPointer {
        let store = contents.pointee.headers.bytes
        return contents.pointee.keepsAll ? store : UnsafeRawBufferPointer(rebasing: store[..<0])
    }

    /// Where the value of `authorization` stands within ``headerRecords``.
    var authorizationRange: Range<Int>? {
        let place = places[Int(RequestField.authorization.rawValue)]
        guard contents.pointee.keepsAll, place.count >= 0 else { return nil }
        return Int(place.start)..<Int(place.start + place.count)
    }

    /// Takes a part of the body.
    func addBody(_ bytes: UnsafeRawBufferPointer) {
        // The peer's flow control window bounds this long before it could overflow.
        contents.pointee.bodyByteCount &+= bytes.count
        let kept = min(bytes.count, Self.bodyBytesKeptMax - contents.pointee.body.count)
        contents.pointee.body.append(UnsafeRawBufferPointer(rebasing: bytes[..<kept]))
    }

    /// The header's value; nil when it was not sent.
    subscript(field: RequestField) -> UnsafeRawBufferPointer? {
        let place = places[Int(field.rawValue)]
        guard place.count >= 0 else { return nil }
        return UnsafeRawBufferPointer(
            rebasing: contents.pointee.headers.bytes[Int(place.start)..<Int(place.start + place.count)])
    }

    /// `apns-id` as a value; nil when it was not sent or is no UUID.
    var id: UUIDValue? { contents.pointee.id }

    /// The id that it is remembered by: `apns-id`, else `apns-request-id`.
    var loggedID: UUIDValue? { id ?? self[.apnsRequestID].flatMap { UUIDValue($0) } }

    /// What follows `/3/device/` in the path; empty when the path is another.
    var deviceToken: UnsafeRawBufferPointer {
        let prefix = RequestPath.devicePrefix
        guard let path = self[.path], path.starts(with: prefix) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
    }

    /// Whether the path is a broadcast's, as far as its beginning tells.
    var isBroadcast: Bool {
        guard let path = self[.path] else { return false }
        return path.starts(with: RequestPath.broadcastPrefix)
    }

    /// Whether its answer has no body (RFC 9110, 9.3.2).
    var isHead: Bool { self[.method]?.equals("HEAD") == true }

    /// A header that APNs knows came more than once, in a way that is refused.
    func hasDuplicateHeaders(_ options: RuleOptions) -> Bool {
        options.acceptsEqualDuplicates ? contents.pointee.hasContradictions : contents.pointee.hasDuplicateHeaders
    }

    /// Bytes of the body as sent, also those that were not kept.
    var bodyByteCount: Int { contents.pointee.bodyByteCount }

    /// The body's bytes, at most ``bodyBytesKeptMax`` of them.
    var bodyBytes: UnsafeRawBufferPointer { contents.pointee.body.bytes }

    /// Whether ``bodyBytes`` is all of the body.
    var isBodyWhole: Bool { contents.pointee.body.count == contents.pointee.bodyByteCount }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes begin with the text's.
    func starts(with text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount
            && UnsafeRawBufferPointer(rebasing: self[..<text.utf8CodeUnitCount]).equals(text)
    }
}

/// Bytes that are appended and dropped all at once; whoever holds it deallocates it.
struct ByteStore {
    /// Nothing until the first byte: a stream that is refused needs none.
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Bytes in use; may be set to a smaller number.
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

/// The request headers that decide about an answer. All others are ignored.
enum RequestField: UInt8, CaseIterable {
    case method, path, authorization, apnsTopic, apnsPushType, apnsID, apnsExpiration, apnsPriority, apnsCollapseID
    case apnsChannelID, apnsRequestID, contentEncoding

    /// The field of this name; nil for all others.
    init?(name: UnsafeRawBufferPointer) {
        // By length first: most headers are told apart without a comparison.
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
