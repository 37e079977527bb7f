/// HKDF over SHA-256 (RFC 5869), which derives keys from a secret.
public enum HKDFSHA256 {
    /// Maximum length of a derived key, which is 255 blocks (RFC 5869, 2.3).
    public static let keyBytesMax = 255 * HMACSHA256.codeBytes

    /// Derives a key from a secret.
    ///
    /// - Parameters:
    ///   - secret: The input keying material.
    ///   - salt: A value that need not be secret, and may be empty.
    ///   - info: The use of the key. Different uses give independent keys.
    ///   - byteCount: The length of the key, from 1 to ``keyBytesMax``.
    /// - Throws: `invalidArgument` for another length, `failed` if OpenSSL fails.
    public static func key(
        from secret: [UInt8], salt: [UInt8] = [], info: [UInt8], byteCount: Int
    ) throws(CryptoError) -> [UInt8] {
        guard (1...keyBytesMax).contains(byteCount) else {
            throw CryptoError(
                .invalidArgument, "cannot derive a key of \(byteCount) bytes: the length must be 1 to \(keyBytesMax)")
        }
        let expansion = try HMACSHA256(key: try HMACSHA256(key: salt).code(of: secret))
        var key: [UInt8] = []
        var block: [UInt8] = []
        var number: UInt8 = 0
        while key.count < byteCount {
            number += 1
            block = try expansion.code(of: block + info + [number])
            key += block
        }
        return Array(key.prefix(byteCount))
    }
}
