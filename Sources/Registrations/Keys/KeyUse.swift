import Crypto

/// The uses of keys that are derived from the keys of a file. Keys of different uses are independent.
enum KeyUse: String {
    case token
    case user
    case userInAllApps = "user in all apps"
    case device
    case userOnDevice = "user on device"
    case scope
    case row
    case fingerprint

    /// Derives the key of this use.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    func key(from secret: [UInt8]) throws(CryptoError) -> [UInt8] {
        try HKDFSHA256.key(
            from: secret, info: Array("martlet registrations v1: \(rawValue)".utf8),
            byteCount: RegistrationKeys.keyBytes)
    }
}
