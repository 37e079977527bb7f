public import Crypto

/// A cipher for the identities of rows and the texts of events. Use an instance on one thread at a time.
///
/// Associated data bind the ciphertext of a row to its keys. Write access to the store therefore does not suffice to
/// move a device to another user.
///
/// Reuse the ciphertext of an unchanged identity, because one data key may encrypt at most 2³² texts (`AES256GCM`).
public final class RowCipher {
    /// An encrypted identity, or the encrypted text of an event.
    public struct Sealed: Sendable, Hashable {
        /// The id of the data key.
        public var keyID: Int
        public var ciphertext: [UInt8]

        public init(keyID: Int, ciphertext: [UInt8]) {
            (self.keyID, self.ciphertext) = (keyID, ciphertext)
        }
    }

    public enum OpenError: Error, Sendable, Hashable {
        /// The id of a data key that the key file lacks.
        case unknownKey(Int)
        /// A ciphertext that the data key did not encrypt for this row or event, or a plaintext that is not an
        /// identity.
        case notAuthentic
        /// A failure of OpenSSL.
        case failed
    }

    /// The id of the data key that encrypts.
    public let activeKeyID: Int
    private let active: AES256GCM
    private let ciphers: [Int: AES256GCM]

    /// Creates a cipher with the data keys of a key file.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public init(_ keys: RegistrationKeys) throws(CryptoError) {
        var ciphers: [Int: AES256GCM] = [:]
        for key in keys.dataKeys { ciphers[key.id] = try AES256GCM(key: try KeyUse.row.key(from: key.key)) }
        activeKeyID = keys.activeKeyID
        guard let active = ciphers[activeKeyID] else {
            preconditionFailure("cannot encrypt registrations: no data key is active")
        }
        (self.active, self.ciphers) = (active, ciphers)
    }

    /// The ids of all data keys, in ascending order.
    var keyIDs: [Int] { ciphers.keys.sorted() }

    /// Returns whether the key file has the data key with this id.
    func hasKey(_ id: Int) -> Bool { ciphers[id] != nil }

    /// Encrypts an identity with the active data key.
    ///
    /// - Throws: `invalidArgument` if the token is not an even number of lower-case hexadecimal digits. Also
    ///   `invalidArgument` if a part of the identity is empty or longer than 65,535 bytes. `failed` if OpenSSL fails.
    public func seal(
        _ identity: RegistrationIdentity, of key: Registration.Key, userKey: UUIDValue
    ) throws(CryptoError) -> Sealed {
        guard let text = IdentityCoding.bytes(of: identity) else {
            throw CryptoError(
                .invalidArgument,
                "cannot encrypt a registration: the token is not an even number of hexadecimal digits, or a value is "
                    + "empty or too long")
        }
        return try seal(text, authenticating: (key.token, key.slot, userKey))
    }

    /// Decrypts an identity with the data key that encrypted it.
    public func open(
        _ sealed: Sealed, of key: Registration.Key, userKey: UUIDValue
    ) throws(OpenError) -> RegistrationIdentity {
        let text = try open(sealed, authenticating: (key.token, key.slot, userKey))
        guard let identity = IdentityCoding.identity(in: text) else { throw .notAuthentic }
        return identity
    }

    /// Decrypts an identity with the data key that encrypted it, and returns the digits of its token.
    func openToken(
        _ ciphertext: UnsafeRawBufferPointer, keyID: Int, of key: Registration.Key, userKey: UUIDValue
    ) throws(OpenError) -> [UInt8] {
        guard let cipher = ciphers[keyID] else { throw .unknownKey(keyID) }
        let opened = Self.withBytes(of: (key.token, key.slot, userKey)) { data in
            withUnsafeTemporaryAllocation(byteCount: ciphertext.count, alignment: 1) { text in
                Result { () throws(AES256GCM.OpenError) in
                    let count = try cipher.open(ciphertext, authenticating: data, into: text)
                    return IdentityCoding.tokenDigits(in: UnsafeRawBufferPointer(rebasing: text[..<count]))
                }
            }
        }
        guard let digits = try Self.value(of: opened) else { throw .notAuthentic }
        return digits
    }

    /// Encrypts the text of an event with the active data key.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    func seal(_ text: [UInt8], ofEvent id: UUIDValue) throws(CryptoError) -> Sealed {
        try seal(text, authenticating: (id, Registration.Key.unshared, Registration.Key.unshared))
    }

    /// Decrypts the text of an event with the data key that encrypted it.
    func open(_ sealed: Sealed, ofEvent id: UUIDValue) throws(OpenError) -> [UInt8] {
        try open(sealed, authenticating: (id, Registration.Key.unshared, Registration.Key.unshared))
    }

    /// The `token_key`, `slot` and `user_key` of a row, or the id of an event and two zeros.
    private typealias AssociatedData = (UUIDValue, UUIDValue, UUIDValue)

    private func seal(_ text: [UInt8], authenticating data: AssociatedData) throws(CryptoError) -> Sealed {
        let ciphertext = Self.withBytes(of: data) { data in
            Result { () throws(CryptoError) in try active.seal(text, authenticating: data) }
        }
        return Sealed(keyID: activeKeyID, ciphertext: try ciphertext.get())
    }

    private func open(_ sealed: Sealed, authenticating data: AssociatedData) throws(OpenError) -> [UInt8] {
        guard let cipher = ciphers[sealed.keyID] else { throw .unknownKey(sealed.keyID) }
        return try Self.value(
            of: Self.withBytes(of: data) { data in
                Result { () throws(AES256GCM.OpenError) in try cipher.open(sealed.ciphertext, authenticating: data) }
            })
    }

    private static func value<Value>(of result: Result<Value, AES256GCM.OpenError>) throws(OpenError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(.failed): throw .failed
        case .failure(.malformed), .failure(.notAuthentic): throw .notAuthentic
        }
    }

    private static func withBytes<Result>(
        of data: AssociatedData, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        var bytes = (
            data.0.high.bigEndian, data.0.low.bigEndian, data.1.high.bigEndian, data.1.low.bigEndian,
            data.2.high.bigEndian, data.2.low.bigEndian
        )
        return withUnsafeBytes(of: &bytes) { body($0) }
    }
}
