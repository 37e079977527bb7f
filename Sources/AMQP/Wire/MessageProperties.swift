/// The properties and headers of a message from the broker, decoded on access.
///
/// A property that is absent or cannot be decoded is nil.
public struct MessageProperties: Sendable {
    /// The bytes that contain the property list (AMQP 0-9-1, section 4.2.6.1) from `start` on.
    private let storage: [UInt8]
    private let start: Int

    package init(storage: [UInt8], start: Int = 0) {
        self.storage = storage
        self.start = start
    }

    public var contentType: String? { text(.contentType) }
    public var contentEncoding: String? { text(.contentEncoding) }
    /// The delivery mode, where 2 means persistent.
    public var deliveryMode: UInt8? { read(.deliveryMode) { $0.octet() } }
    public var priority: UInt8? { read(.priority) { $0.octet() } }
    public var correlationID: String? { text(.correlationID) }
    public var replyTo: String? { text(.replyTo) }
    /// The time to live at the broker in milliseconds, as text.
    public var expiration: String? { text(.expiration) }
    public var messageID: String? { text(.messageID) }
    /// The timestamp in seconds since 1970-01-01 UTC, as the publisher set it.
    public var timestampSeconds: UInt64? { read(.timestamp) { $0.longLong() } }
    public var type: String? { text(.type) }
    public var userID: String? { text(.userID) }
    public var appID: String? { text(.appID) }

    /// Whether the property list has headers. The headers may be unreadable.
    public var hasHeaders: Bool {
        storage.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return (flags(&reader) ?? 0) & Property.headers.flag != 0
        }
    }

    /// Returns one header without decoding the other headers; nil if the header is missing or cannot be decoded.
    public func header(_ name: String) -> FieldValue? {
        read(.headers) { $0.longString().flatMap { FieldTable.value(named: name, content: $0) } }
    }

    /// All headers, with nesting up to `FieldTable.depthMax`; nil if there are no headers or they cannot be decoded.
    public var headers: FieldTable? {
        read(.headers) { $0.longString().flatMap { FieldTable(content: $0) } }
    }

    /// Returns a sum of hashes. It covers each header that does not begin with `x-`, and the encoded properties after
    /// the headers. These are the properties from `delivery-mode` to `cluster-id`. The order of the headers does not
    /// matter. Returns 0 if the property list is truncated before or within the headers.
    package func publishersSum(_ hash: (UnsafeRawBufferPointer) -> UInt64) -> UInt64 {
        storage.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            guard let flags = flags(&reader) else { return 0 }
            if flags & Property.contentType.flag != 0, reader.shortString() == nil { return 0 }
            if flags & Property.contentEncoding.flag != 0, reader.shortString() == nil { return 0 }
            guard flags & Property.headers.flag != 0 else { return hash(reader.rest) }
            guard let content = reader.longString() else { return 0 }
            return FieldTable.publishersSum(content: content, hash) &+ hash(reader.rest)
        }
    }

    private func text(_ property: Property) -> String? {
        read(property) { $0.shortString().map { String(wire: $0) } }
    }

    private func read<Value>(_ property: Property, _ body: (inout WireReader) -> Value?) -> Value? {
        storage.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            guard let flags = flags(&reader), flags & property.flag != 0 else { return nil }
            var current: Property? = .contentType
            while let earlier = current, earlier != property {
                if flags & earlier.flag != 0, !earlier.skip(&reader) { return nil }
                current = Property(rawValue: earlier.rawValue - 1)
            }
            return body(&reader)
        }
    }

    /// Reads the flags that show which properties are present; nil if the flags are truncated.
    private func flags(_ reader: inout WireReader) -> UInt16? {
        reader.bytes(start) == nil ? nil : reader.propertyFlags()
    }
}

/// The properties of the basic class, in wire order. The raw value is the number of the flag bit that marks a property
/// as present.
private enum Property: UInt8 {
    case contentType = 15
    case contentEncoding = 14
    case headers = 13
    case deliveryMode = 12
    case priority = 11
    case correlationID = 10
    case replyTo = 9
    case expiration = 8
    case messageID = 7
    case timestamp = 6
    case type = 5
    case userID = 4
    case appID = 3
    case clusterID = 2

    var flag: UInt16 { 1 << UInt16(rawValue) }

    func skip(_ reader: inout WireReader) -> Bool {
        switch self {
        case .headers: reader.longString() != nil
        case .deliveryMode, .priority: reader.octet() != nil
        case .timestamp: reader.longLong() != nil
        case .contentType, .contentEncoding, .correlationID, .replyTo, .expiration, .messageID, .type, .userID, .appID,
            .clusterID:
            reader.shortString() != nil
        }
    }
}

extension WireReader {
    /// Reads the flags of a property list. RabbitMQ uses only the first word.
    fileprivate mutating func propertyFlags() -> UInt16? {
        guard let flags = short() else { return nil }
        var word = flags
        while word & 1 != 0 {
            guard let next = short() else { return nil }
            word = next
        }
        return flags
    }
}
