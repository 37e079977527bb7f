import APNSProtocol

/// A JSON pointer into a message as it may be told: keys are the producer's, of any length, and may be device tokens.
struct ShownPointer {
    let text: String

    static let wordBytesMax = 64
    static let bytesMax = 256
    /// So many hexadecimal digits in a row may be a device token.
    static let hexDigitsMax = 31
    /// Bytes that are left of a word that is longer, or may be a token.
    static let bytesLeft = 8

    init(_ pointer: String) {
        var text = ""
        for word in pointer.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            let shown = Self.shown(word)
            guard text.utf8.count + shown.utf8.count < Self.bytesMax else {
                text += "/…"
                break
            }
            text += "/" + shown
        }
        self.text = text
    }

    private static func shown(_ word: Substring.UTF8View) -> String {
        let isSecret = word.count > wordBytesMax || longestHexRun(in: word) > hexDigitsMax
        let start = String(decoding: isSecret ? word.prefix(bytesLeft) : word, as: UTF8.self)
        let printable = String(
            String.UnicodeScalarView(start.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
        // Half an escape says nothing.
        return isSecret ? (printable.hasSuffix("~") ? String(printable.dropLast()) : printable) + "…" : printable
    }

    private static func longestHexRun(in word: Substring.UTF8View) -> Int {
        var longest = 0
        var run = 0
        for byte in word {
            run = DeviceToken.isHexDigit(byte) ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}
