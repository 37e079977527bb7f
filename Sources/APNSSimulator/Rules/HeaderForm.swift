import APNSProtocol

/// The form of a header's value, by itself.
enum HeaderForm {
    /// Bytes of a topic or bundle ID.
    static let topicBytesMax = 255

    /// A bundle ID with or without suffix: letters, digits, hyphens and full stops.
    static func isTopic(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && bytes.count <= topicBytesMax
            && bytes.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Seconds since 1970 as a plain decimal number.
    static func isUnixTime(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && bytes.count <= 18
            && bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Whether these bytes are the word, in either case.
    static func isWord(_ bytes: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        bytes.count == word.utf8CodeUnitCount && zip(bytes, word.bytes).allSatisfy { lowercased($0) == lowercased($1) }
    }
}
