/// A field that nghttp2 refused, parsed from an error text like `…, name: [Apns-Topic], value: [com.example.app]`.
/// Name and value may contain any bytes, so the first match of each separator counts.
struct RefusedField {
    /// Maximum length of a loggable value. Longer values may contain a secret or a device token.
    private static let loggableBytesMax = 32
    /// Fields of HTTP/1.1 that HTTP/2 forbids (RFC 9113, 8.2.2), and `te`, for which HTTP/2 allows one value.
    private static let loggableNames: [StaticString] = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    let name: UnsafeRawBufferPointer
    private let value: UnsafeRawBufferPointer

    init?(_ text: UnsafeRawBufferPointer) {
        guard let beforeName = Self.find(", name: [", in: text) else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: text[beforeName.upperBound...])
        guard let between = Self.find("], value: [", in: rest), rest.last == UInt8(ascii: "]"),
            between.upperBound < rest.count
        else { return nil }
        name = UnsafeRawBufferPointer(rebasing: rest[..<between.lowerBound])
        value = UnsafeRawBufferPointer(rebasing: rest[between.upperBound..<(rest.count - 1)])
    }

    /// The value; nil if it may be a secret.
    var loggableValue: UnsafeRawBufferPointer? {
        let isLoggable = Self.loggableNames.contains { loggable in
            name.elementsEqual(UnsafeRawBufferPointer(start: loggable.utf8Start, count: loggable.utf8CodeUnitCount))
        }
        return isLoggable && value.count <= Self.loggableBytesMax ? value : nil
    }

    private static func find(_ text: StaticString, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let text = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes.count >= text.count else { return nil }
        let start = (0...bytes.count - text.count).first { bytes[$0...].starts(with: text) }
        return start.map { $0..<$0 + text.count }
    }
}
