import APNSProtocol
import EventLoop

/// Checks of the form of header values.
enum HeaderForm {
    /// Maximum bytes of a topic or bundle ID.
    static let topicBytesMax = 255

    /// Returns whether the bytes have the form of a bundle ID with or without a suffix. The form is 1 to
    /// ``topicBytesMax`` letters, digits, periods, hyphens and underscores.
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

    /// Returns whether the bytes are 1 to 18 decimal digits, the form of a time in seconds since 1970.
    static func isUnixTime(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && bytes.count <= 18
            && bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Limit that distinguishes seconds from milliseconds: the year 5138 in seconds, 1973 in milliseconds.
    static let unixSecondsMax: Int64 = 100_000_000_000

    /// Checks an expiration.
    ///
    /// - Throws: a refusal if the expiration is not a time, or if the switches refuse the time.
    static func checkExpiration(
        _ bytes: UnsafeRawBufferPointer, _ options: RuleOptions, _ now: Now
    ) throws(Refusal) {
        guard isUnixTime(bytes) else { throw Refusal(reason: .badExpirationDate, detail: .expirationForm) }
        guard options.pastExpirationReason != nil || options.millisecondsExpirationReason != nil else { return }
        let seconds = bytes.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        if seconds > 0, seconds < now.unixSeconds, let reason = options.pastExpirationReason {
            throw Refusal(reason: reason, detail: .expirationPast)
        }
        if seconds >= unixSecondsMax, let reason = options.millisecondsExpirationReason {
            throw Refusal(reason: reason, detail: .expirationMilliseconds)
        }
    }

    static func pushType(_ word: UnsafeRawBufferPointer, _ letterCase: RuleOptions.LetterCase) -> PushType? {
        switch letterCase {
        case .exact: PushType(word)
        case .any: PushType.allCases.first { isWord(word, $0.wireText) }
        }
    }

    /// Returns whether the letters of an ID are in the required case.
    static func isID(_ id: UnsafeRawBufferPointer, _ letterCase: RuleOptions.LetterCase) -> Bool {
        letterCase == .any || id.allSatisfy { lowercased($0) == $0 }
    }

    /// Returns whether the bytes equal the word. The comparison ignores case.
    static func isWord(_ bytes: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        bytes.count == word.utf8CodeUnitCount && zip(bytes, word.bytes).allSatisfy { lowercased($0) == lowercased($1) }
    }
}
