/// Base64 with `+`, `/` and padding (RFC 4648, section 4).
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64URL.encode(bytes).utf8.map { character in
            switch character {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: character
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes base64 or base64url. Ignores `=` at the end. Returns nil for other texts.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text.replacing("+", with: "-").replacing("/", with: "_")
        while text.last == "=" { text.removeLast() }
        return Base64URL.decode(text)
    }
}
