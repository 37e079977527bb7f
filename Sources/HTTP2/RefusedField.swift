/// The field that nghttp2 itself refuses, in its words: `…, name: [Apns-Topic], value: [com.example.app]`. Both may hold any
/// bytes, so that they are looked for once, from the front.
struct RefusedField {
    /// Longer values may hold a secret or a device token, whatever the field.
    private static let shownBytesMax = 32
    /// Fields of HTTP/1.1 that HTTP/2 forbids (RFC 9113, 8.2.2), with `te`, of which it knows one value.
    private static let shownNames: [StaticString] = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    let name: UnsafeRawBufferPointer
    private let value: UnsafeRawBufferPointer

    init?(_ words: UnsafeRawBufferPointer) {
        guard let beforeName = Self.find(", name: [", in: words) else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: words[beforeName.upperBound...])
        guard let between = Self.find("], value: [", in: rest), rest.last == UInt8(ascii: "]"),
            between.upperBound < rest.count
        else { return nil }
        name = UnsafeRawBufferPointer(rebasing: rest[..<between.lowerBound])
        value = UnsafeRawBufferPointer(rebasing: rest[between.upperBound..<(rest.count - 1)])
    }

    /// nil where it may be something that nobody may see.
    var shownValue: UnsafeRawBufferPointer? {
        let canBeShown = Self.shownNames.contains { shown in
            name.elementsEqual(UnsafeRawBufferPointer(start: shown.utf8Start, count: shown.utf8CodeUnitCount))
        }
        return canBeShown && value.count <= Self.shownBytesMax ? value : nil
    }

    private static func find(_ text: StaticString, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let text = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes.count >= text.count else { return nil }
        let start = (0...bytes.count - text.count).first { bytes[$0...].starts(with: text) }
        return start.map { $0..<$0 + text.count }
    }
}
