internal import COpenSSL

/// A private or public key on the curve P-256, as an `EVP_PKEY`.
///
/// `@unchecked Sendable`: an `EVP_PKEY` is immutable after creation, and OpenSSL counts its references atomically.
final class P256Key: @unchecked Sendable {
    /// The key, valid for the lifetime of this object.
    let pointer: OpaquePointer

    /// Creates a key that owns `pointer`. Frees `pointer` even if the initializer throws.
    init(owning pointer: OpaquePointer, what: String) throws(CryptoError) {
        guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC else {
            EVP_PKEY_free(pointer)
            throw CryptoError(.unsupported, "\(what) is not an elliptic-curve key; ES256 requires the curve P-256")
        }
        var name = [CChar](repeating: 0, count: 64)
        let known = EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1
        let curve = known ? String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : ""
        OpenSSLErrors.clear()
        guard curve == "prime256v1" else {
            EVP_PKEY_free(pointer)
            let found = curve.isEmpty ? "an unnamed curve" : "the curve \(curve)"
            throw CryptoError(.unsupported, "\(what) is on \(found); ES256 requires the curve P-256 (prime256v1)")
        }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    static func generate() throws(CryptoError) -> P256Key {
        OpenSSLErrors.clear()
        guard let pointer = martlet_generate_p256_key() else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot generate a P-256 key")
        }
        return try P256Key(owning: pointer, what: "the new key")
    }

    func publicPEM() throws(CryptoError) -> String {
        guard let text = MemoryBIO.text({ PEM_write_bio_PUBKEY($0, pointer) == 1 }) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot write the public key")
        }
        return text
    }

    func pkcs8PEM() throws(CryptoError) -> String {
        let text = MemoryBIO.text { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) == 1 }
        guard let text else { throw CryptoError(.failed, drainingOpenSSLAfter: "cannot write the private key") }
        return text
    }
}

extension P256Key: Equatable {
    static func == (one: P256Key, other: P256Key) -> Bool { EVP_PKEY_eq(one.pointer, other.pointer) == 1 }
}
