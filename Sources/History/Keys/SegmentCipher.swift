import Crypto
import Registrations

/// The cipher of one segment. Each segment has its own key, because one key may encrypt at most 2³² texts
/// (`AES256GCM`). Use an instance on one thread at a time.
final class SegmentCipher {
    private let cipher: AES256GCM

    /// - Parameters:
    ///   - keyID: the id of the data key.
    ///   - salt: the random number of the segment.
    /// - Returns: nil if the key file lacks the data key.
    /// - Throws: `failed` if OpenSSL fails.
    init?(_ keys: RegistrationKeys, keyID: Int, salt: Int64) throws(CryptoError) {
        guard let key = try keys.historyDataKey(id: keyID, "segment \(salt)") else { return nil }
        cipher = try AES256GCM(key: key)
    }

    /// Encrypts values of a row.
    ///
    /// - Parameter id: the identity of the row, which is authenticated.
    func seal(_ bytes: [UInt8], of id: UUIDValue?) throws(CryptoError) -> [UInt8] {
        try cipher.seal(bytes, authenticating: Self.data(id))
    }

    /// Decrypts values of a row. Returns nil if decryption fails, such as for the values of another row.
    func open(_ sealed: [UInt8], of id: UUIDValue?) -> [UInt8]? {
        try? cipher.open(sealed, authenticating: Self.data(id))
    }

    private static func data(_ id: UUIDValue?) -> [UInt8] {
        guard let id else { return [] }
        return withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { Array($0) }
    }
}
