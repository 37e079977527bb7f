/// The markup language of manual pages.
enum Roff {
    /// Escapes characters that roff interprets: backslashes, hyphens, quotes, backticks, carets, tildes, a dot at the
    /// beginning of the text, and characters outside ASCII.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "`": escaped += "\\(ga"
            default:
                escaped += scalar.isASCII ? "\(scalar)" : "\\[u\(hexadecimal(scalar.value))]"
            }
        }
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
