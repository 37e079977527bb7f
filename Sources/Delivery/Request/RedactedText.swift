import APNSProtocol
import Text

/// What a schema says of a message as it may be told: keys are the producer's, of any length, and may be device tokens.
enum RedactedText {
    static let wordBytesMax = 40
    static let pointerBytesMax = 256
    static let nameCharactersMax = 100
    /// So many hexadecimal digits in a row may be a device token. A UUID has twelve.
    static let tokenDigitsMin = 32

    static func sentence(_ text: String) -> String {
        let scalars = String(decoding: DeviceToken.shortened(in: text.utf8, digitsMin: tokenDigitsMin), as: UTF8.self)
            .unicodeScalars.map { $0.steersTerminal ? "?" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// A name that a producer wrote, in quotes, cut where it is long.
    static func name(_ name: String) -> String {
        let shown = sentence(String(name.prefix(nameCharactersMax)))
        return "\"\(shown)\(name.count > nameCharactersMax ? "…" : "")\""
    }

    /// A JSON pointer with long words cut, and itself where many are in it.
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
        // Half a character or half an escape says nothing.
        while end > word.startIndex, word[end] & 0xC0 == 0x80 { end = word.index(before: end) }
        let start = word[..<end]
        return String(decoding: start.last == UInt8(ascii: "~") ? start.dropLast() : start, as: UTF8.self) + "…"
    }
}
