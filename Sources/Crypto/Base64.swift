/// Base64 with `+`, `/` and padding (RFC 4648, section 4).
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// Decodes base64 or base64url. Ignores `=` at the end. Returns nil for other texts.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text.replacing("+", with: "-").replacing("/", with: "_")
        while text.last == "=" { text.removeLast() }
        return Base64URL.decode(text)
    }
}
