import Crypto

/// A key that distinguishes devices whose shortened tokens are equal.
///
/// The key is a salted hash of the token. Without the process's salt, a reader of the key cannot confirm a guess of
/// the token.
enum DeviceKey {
    private static let digits = 16
    private static let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    /// Returns the key of a device token. The case of the token's letters does not matter.
    static func of(_ token: UnsafeRawBufferPointer) -> String {
        let digest = Digest.sha256(salt + token.map(lowercased))
        return String(SHA256Value(digest: digest).description.prefix(digits))
    }
}
