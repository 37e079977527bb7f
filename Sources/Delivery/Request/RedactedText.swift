import APNSProtocol
import Text

/// The redaction of texts about a request, for logs and results. Member names of a request may have any length
/// and may be device tokens.
enum RedactedText {
    static let wordBytesMax = 40
    static let pointerBytesMax = 256
    static let nameCharactersMax = 100
    /// The minimum number of consecutive hexadecimal digits that are redacted as a possible device token. A UUID has at
    /// most twelve.
    static let tokenDigitsMin = 32

    static func sentence(_ text: String) -> String {
        let scalars = String(decoding: DeviceToken.shortened(in: text.utf8, digitsMin: tokenDigitsMin), as: UTF8.self)
            .unicodeScalars.map { $0.steersTerminal ? "?" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Returns a name that a producer wrote, redacted and in quotes. A long name is truncated.
    static func name(_ name: String) -> String {
        let shown = sentence(String(name.prefix(nameCharactersMax)))
        return "\"\(shown)\(name.count > nameCharactersMax ? "…" : "")\""
    }

    /// Returns a JSON pointer with long reference tokens truncated. If the pointer is still too long, its end is
    /// omitted.
    static func pointer(_ pointer: String) -> String {
        var shown = ""
        for word in sentence(pointer).utf8.split(separator: slash, omittingEmptySubsequences: false).dropFirst() {
            let word = cut(word)
            guard shown.utf8.count + word.utf8.count < pointerBytesMax else { return shown + "/…" }
            shown += "/" + word
        }
        return shown
    }

    private static let slash = UInt8(ascii: "/")

    private static func cut(_ word: Substring.UTF8View) -> String {
        guard word.count > wordBytesMax else { return String(decoding: word, as: UTF8.self) }
        var end = word.index(word.startIndex, offsetBy: wordBytesMax)
        // Do not split a character or an escape.
        while end > word.startIndex, word[end] & 0xC0 == 0x80 { end = word.index(before: end) }
        let start = word[..<end]
        return String(decoding: start.last == UInt8(ascii: "~") ? start.dropLast() : start, as: UTF8.self) + "…"
    }
}
