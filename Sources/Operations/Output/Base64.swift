import Crypto

/// The base64 of RFC 4648, section 4: with `+`, `/` and padding.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
