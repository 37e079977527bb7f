/// The subset of DER (X.690) that Apple's list of topics uses, which is a sequence of texts, each followed by a
/// sequence.
enum DERSequence {
    private static let sequenceTag: UInt8 = 0x30
    /// Tags of UTF8String, PrintableString and IA5String.
    private static let textTags: [UInt8] = [0x0C, 0x13, 0x16]

    /// Returns the texts in a sequence, without those in nested sequences, up to the first invalid element. Returns an
    /// empty array for other contents.
    static func texts(in bytes: [UInt8]) -> [String] {
        var bytes = bytes[...]
        guard let outer = next(&bytes), outer.tag == sequenceTag else { return [] }
        var rest = outer.value
        var texts: [String] = []
        while let element = next(&rest) {
            if textTags.contains(element.tag) { texts.append(String(decoding: element.value, as: UTF8.self)) }
        }
        return texts
    }

    private static func next(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, value: ArraySlice<UInt8>)? {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            // In the long form, the length is in the next `places` bytes. More than two bytes are not accepted.
            let places = Int(first & 0x7F)
            guard (1...2).contains(places), bytes.count >= places else { return nil }
            count = bytes.prefix(places).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(places)
        }
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return (tag, bytes.prefix(count))
    }

    static func text(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

    static func sequence(_ elements: [UInt8]) -> [UInt8] { element(sequenceTag, elements) }

    private static func element(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        let count = UInt16(truncatingIfNeeded: value.count)
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)] : [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        return [tag] + length + value
    }
}
