/// The format of host names (RFC 1123, section 2.1). A label that begins with `xn--` must decode to a label that RFC
/// 5890 allows.
enum HostnameFormat {
    static let bytesMax = 253
    static let labelBytesMax = 63

    static func matches(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard (1...bytesMax).contains(text.count) else { return false }
        return text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy(isLabel)
    }

    static func isLabel(_ label: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard (1...labelBytesMax).contains(label.count), label.first != UInt8(ascii: "-"),
            label.last != UInt8(ascii: "-"),
            label.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") })
        else { return false }
        let hyphens = label.dropFirst(2).prefix(2)
        guard hyphens.elementsEqual("--".utf8) else { return true }
        guard label.prefix(2).elementsEqual("xn".utf8, by: { $0 | 0x20 == $1 }),
            let scalars = Punycode.decoded(label.dropFirst(4))
        else { return false }
        return InternationalLabel(scalars).isValid && scalars.contains { !$0.isASCII }
    }
}

/// The format of host names in any script (RFC 5890 to 5893).
enum InternationalHostname {
    /// The periods that separate labels (RFC 3490, section 3.1).
    private static let stops: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

    static func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        // A character needs at most four bytes of UTF-8, and at least one byte in its encoded form.
        guard text.count <= 4 * HostnameFormat.bytesMax else { return false }
        let labels = String(decoding: text, as: UTF8.self).unicodeScalars
            .split(omittingEmptySubsequences: false, whereSeparator: { stops.contains($0) })
        var length = labels.count - 1
        for label in labels {
            let scalars = Array(label)
            if scalars.allSatisfy(\.isASCII) {
                let bytes = scalars.map { UInt8(truncatingIfNeeded: $0.value) }
                guard bytes.withUnsafeBytes({ HostnameFormat.isLabel($0[...]) }) else { return false }
                length += bytes.count
            } else {
                guard InternationalLabel(scalars).isValid, let encoded = Punycode.encodedCount(scalars),
                    encoded + 4 <= HostnameFormat.labelBytesMax
                else { return false }
                length += encoded + 4
            }
        }
        return length <= HostnameFormat.bytesMax
    }
}
