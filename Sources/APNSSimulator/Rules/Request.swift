import APNSProtocol

/// One request as it arrived: the headers that APNs knows and the body, in memory that serves the next request again.
///
/// Bytes are handed out as views into that memory, valid until `reset()`.
final class Request {
    /// Header bytes kept of one request; the HTTP/2 session ends streams that send more before this matters.
    static let headerBytesMax = APNSLimits.headerListBytesMax
    /// Body bytes kept of one request: one more than the greatest payload of any kind. The rest is only counted.
    static let bodyBytesKeptMax = 5121

    private struct Slot {
        var start = 0
        var count = -1
    }

    private var storage: UnsafeMutableRawBufferPointer
    private var used = 0
    private var slots = [Slot](repeating: Slot(), count: RequestField.allCases.count)
    private var body: UnsafeMutableRawBufferPointer
    private var bodyKept = 0

    /// Bytes of the body as sent, also those that were not kept.
    private(set) var bodyByteCount = 0
    /// A header that APNs knows came more than once.
    private(set) var hasDuplicateHeaders = false

    init() {
        storage = .allocate(byteCount: 1024, alignment: 16)
        body = .allocate(byteCount: 1024, alignment: 16)
    }

    deinit {
        storage.deallocate()
        body.deallocate()
    }

    /// Makes it empty for the next request.
    func reset() {
        used = 0
        bodyKept = 0
        bodyByteCount = 0
        hasDuplicateHeaders = false
        for index in slots.indices { slots[index] = Slot() }
    }

    /// Takes a header. Names are compared as they are, since HTTP/2 knows lower case only.
    func addHeader(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard let field = RequestField(name: name) else { return }
        let index = Int(field.rawValue)
        guard slots[index].count < 0 else {
            hasDuplicateHeaders = true
            return
        }
        guard used + value.count <= Self.headerBytesMax else { return }
        Self.grow(&storage, used: used, needed: used + value.count)
        UnsafeMutableRawBufferPointer(rebasing: storage[used...]).copyMemory(from: value)
        slots[index] = Slot(start: used, count: value.count)
        used += value.count
    }

    /// Takes a part of the body.
    func addBody(_ bytes: UnsafeRawBufferPointer) {
        // The peer's flow control window bounds this long before it could overflow.
        bodyByteCount &+= bytes.count
        let kept = min(bytes.count, Self.bodyBytesKeptMax - bodyKept)
        guard kept > 0 else { return }
        Self.grow(&body, used: bodyKept, needed: bodyKept + kept)
        UnsafeMutableRawBufferPointer(rebasing: body[bodyKept...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<kept]))
        bodyKept += kept
    }

    /// The header's value; nil when it was not sent.
    subscript(field: RequestField) -> UnsafeRawBufferPointer? {
        let slot = slots[Int(field.rawValue)]
        return slot.count < 0 ? nil : UnsafeRawBufferPointer(rebasing: storage[slot.start..<(slot.start + slot.count)])
    }

    /// The body's bytes, at most ``bodyBytesKeptMax`` of them.
    var bodyBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: body[..<bodyKept]) }

    /// What follows `/3/device/` in the path; empty when the path is another.
    var deviceToken: UnsafeRawBufferPointer {
        let prefix = RequestPath.devicePrefix
        guard let path = self[.path], path.count > prefix.utf8CodeUnitCount,
            UnsafeRawBufferPointer(rebasing: path[..<prefix.utf8CodeUnitCount]).equals(prefix)
        else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
    }

    /// Whether ``bodyBytes`` is all of the body.
    var isBodyWhole: Bool { bodyKept == bodyByteCount }

    private static func grow(_ buffer: inout UnsafeMutableRawBufferPointer, used: Int, needed: Int) {
        guard needed > buffer.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(needed, buffer.count * 2), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<used]))
        buffer.deallocate()
        buffer = larger
    }
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
