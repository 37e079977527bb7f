/// Quoting for a POSIX shell.
public enum Shell {
    public static func quoted(_ text: String) -> String { "'\(text.replacingScalars("'", with: #"'\''"#))'" }

    /// Returns a word, quoted only if a shell might change it.
    public static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }

    /// Returns a text as the last operand of a command, after `--` if the text looks like an option.
    public static func operand(_ text: String) -> String {
        text.utf8.first == UInt8(ascii: "-") ? "-- \(word(text))" : word(text)
    }
}
