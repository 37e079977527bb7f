package import Crypto

/// Keys of the history, derived from a key file of the same form. They are independent of the keys of registrations.
extension RegistrationKeys {
    private static func info(_ use: String) -> [UInt8] { Array("martlet history v1: \(use)".utf8) }

    /// Returns the key by which the history finds rows.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    package func historyLookupKey(_ use: String) throws(CryptoError) -> [UInt8] {
        try HKDFSHA256.key(from: indexKey, info: Self.info(use), byteCount: Self.keyBytes)
    }

    /// Returns the key that encrypts rows of the history; nil if the file lacks the data key with this id.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    package func historyDataKey(id: Int, _ use: String) throws(CryptoError) -> [UInt8]? {
        guard let key = dataKeys.first(where: { $0.id == id }) else { return nil }
        return try HKDFSHA256.key(from: key.key, info: Self.info(use), byteCount: Self.keyBytes)
    }
}
