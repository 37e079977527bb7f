package import Crypto

/// A random secret of 256 bits: a session, a login code or a personal token. Tables and files contain only its hash.
package enum Secret {
    private static let bytes = 32
    package static let characters = 2 * bytes

    /// Returns a new secret as hexadecimal text.
    package static func make() throws(CryptoError) -> String { text(try SecureRandom.bytes(count: bytes)) }

    /// Returns the SHA-256 hash of a secret as hexadecimal text; nil for a text that is no secret.
    package static func hash(_ secret: String) -> String? {
        let bytes = Array(secret.utf8)
        guard bytes.count == characters, bytes.allSatisfy(isDigit) else { return nil }
        return text(Digest.sha256(bytes))
    }

    package static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns whether the byte is a lower-case hexadecimal digit.
    package static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
