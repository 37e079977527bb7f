public import Crypto

/// The properties of a data key that operators may see.
public struct DataKeySummary: Sendable, Hashable {
    public var id: Int
    /// Eight hexadecimal digits of a hash. If two files have different keys with one id, the digits almost certainly
    /// differ. The digits reveal nothing of the key.
    public var fingerprint: String
    /// Whether the key encrypts. Otherwise, it only decrypts.
    public var isActive: Bool

    public init(id: Int, fingerprint: String, isActive: Bool) {
        (self.id, self.fingerprint, self.isActive) = (id, fingerprint, isActive)
    }

    /// A text such as `2 (9c41d0aa, active)`.
    public var text: String { "\(id) (\(fingerprint)\(isActive ? ", active" : ""))" }
}

extension RegistrationKeys {
    private static let fingerprintBytes = 4

    /// Returns the data keys in ascending order of their ids.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public func dataKeySummaries() throws(CryptoError) -> [DataKeySummary] {
        var summaries: [DataKeySummary] = []
        for dataKey in dataKeys {
            summaries.append(
                DataKeySummary(
                    id: dataKey.id, fingerprint: try Self.fingerprint(of: dataKey.key),
                    isActive: dataKey.id == activeKeyID))
        }
        return summaries
    }

    /// Returns the data key that encrypts.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public func activeDataKeySummary() throws(CryptoError) -> DataKeySummary {
        guard let active = try dataKeySummaries().first(where: \.isActive) else {
            preconditionFailure("a key file has the key that it names as active")
        }
        return active
    }

    /// Returns eight hexadecimal digits of a hash of the index key. If two key files have different index keys, the
    /// digits almost certainly differ. The digits reveal nothing of the key.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public func indexKeyFingerprint() throws(CryptoError) -> String { try Self.fingerprint(of: indexKey) }

    private static func fingerprint(of key: [UInt8]) throws(CryptoError) -> String {
        try KeyUse.fingerprint.key(from: key).prefix(fingerprintBytes).withUnsafeBytes { IdentityCoding.digits(of: $0) }
    }
}
