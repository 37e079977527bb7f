import Crypto

/// The base64 of files and mails (RFC 4648, 4): `+` and `/`, padded.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// nil for what is none.
    static func decode(_ text: String) -> [UInt8]? {
        var text = text.replacing("+", with: "-").replacing("/", with: "_")
        while text.last == "=" { text.removeLast() }
        return Base64URL.decode(text)
    }
}
