public import Crypto

/// Encrypts the identities of rows. The associated data bind a ciphertext to its row and user: write access to the store
/// does not allow to move a device to another user. Use an instance on one thread at a time.
///
/// Keep the ciphertext of an identity that did not change: one data key encrypts at most 2³² identities (`AES256GCM`).
public final class RowCipher {
    /// An encrypted identity.
    public struct Sealed: Sendable, Hashable {
        /// The id of the data key.
        public var keyID: Int
        public var ciphertext: [UInt8]

        public init(keyID: Int, ciphertext: [UInt8]) {
            (self.keyID, self.ciphertext) = (keyID, ciphertext)
        }
    }

    public enum OpenError: Error, Sendable, Hashable {
        /// The key file has no data key with this id.
        case unknownKey(Int)
        /// The ciphertext, the row's keys or the user's key were changed.
        case notAuthentic
        /// OpenSSL failed.
        case failed
    }

    /// The id of the data key that encrypts.
    public let newestKeyID: Int
    private let newest: AES256GCM
    private let ciphers: [Int: AES256GCM]

    /// - Throws: `failed` if OpenSSL fails.
    public init(_ keys: RegistrationKeys) throws(CryptoError) {
        var ciphers: [Int: AES256GCM] = [:]
        for key in keys.dataKeys { ciphers[key.id] = try AES256GCM(key: try KeyUse.row.key(from: key.key)) }
        guard let newestKeyID = ciphers.keys.max(), let newest = ciphers[newestKeyID] else {
            throw CryptoError(.invalidArgument, "cannot encrypt registrations: there is no data key")
        }
        (self.newestKeyID, self.newest, self.ciphers) = (newestKeyID, newest, ciphers)
    }

    /// Encrypts with the newest data key.
    ///
    /// - Throws: `invalidArgument` if the token is not hexadecimal or a text is longer than 65,535 bytes; `failed` if
    ///   OpenSSL fails.
    public func seal(
        _ identity: RegistrationIdentity, of key: Registration.Key, userKey: UUIDValue
    ) throws(CryptoError) -> Sealed {
        guard let text = IdentityCoding.bytes(of: identity) else {
            throw CryptoError(.invalidArgument, "cannot encrypt a registration: its token or a text is malformed")
        }
        return Sealed(
            keyID: newestKeyID,
            ciphertext: try newest.seal(text, authenticating: Self.associatedData(key, userKey)))
    }

    /// Decrypts with the data key of the row.
    public func open(
        _ sealed: Sealed, of key: Registration.Key, userKey: UUIDValue
    ) throws(OpenError) -> RegistrationIdentity {
        guard let cipher = ciphers[sealed.keyID] else { throw .unknownKey(sealed.keyID) }
        let text: [UInt8]
        do throws(AES256GCM.OpenError) {
            text = try cipher.open(sealed.ciphertext, authenticating: Self.associatedData(key, userKey))
        } catch {
            throw error == .failed ? .failed : .notAuthentic
        }
        guard let identity = IdentityCoding.identity(in: text) else { throw .notAuthentic }
        return identity
    }

    private static func associatedData(_ key: Registration.Key, _ userKey: UUIDValue) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 48) { data, count in
            let words = [key.token.high, key.token.low, key.slot.high, key.slot.low, userKey.high, userKey.low]
            let raw = UnsafeMutableRawBufferPointer(data)
            for (index, word) in words.enumerated() {
                raw.storeBytes(of: word.bigEndian, toByteOffset: index * 8, as: UInt64.self)
            }
            count = 48
        }
    }
}
