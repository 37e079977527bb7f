internal import COpenSSL

/// The private keys and certificates of one file, or of a certificate file and its key file, as OpenSSL objects that
/// this object frees.
final class Identities {
    var keys: [OpaquePointer] = []
    var certificates: [OpaquePointer] = []

    deinit {
        for key in keys { EVP_PKEY_free(key) }
        for certificate in certificates { X509_free(certificate) }
    }

    /// Chooses a key. Returns the key and its certificate, followed by the certificates that match no key. The caller
    /// frees the key and the certificates.
    ///
    /// - Throws: `malformed` if no key matches a certificate, or if wanted certificates have different user IDs (common
    ///   names, for certificates without a user ID).
    func choose(
        _ isWanted: (CertificateContents) -> Bool
    ) throws(CryptoError) -> (key: OpaquePointer, certificates: [OpaquePointer]) {
        defer { OpenSSLErrors.clear() }
        var pairs: [(key: OpaquePointer, own: Int, contents: CertificateContents?)] = []
        for key in keys {
            for (index, certificate) in certificates.enumerated()
            where X509_check_private_key(certificate, key) == 1 && !pairs.contains(where: { $0.own == index }) {
                pairs.append((key, index, try? CertificateContents(certificate)))
            }
        }
        guard let first = pairs.first else {
            throw CryptoError(
                .malformed, drainingOpenSSLAfter: "the private key matches no certificate in the file")
        }
        let wanted = pairs.filter { $0.contents.map(isWanted) ?? false }
        let names = Set(wanted.compactMap { $0.contents?.userID ?? $0.contents?.commonName })
        guard names.count <= 1 else {
            throw CryptoError(
                .malformed,
                "the file contains certificates with private keys for \(names.sorted().joined(separator: " and ")); "
                    + "export each to a separate file")
        }
        let lasts: (CertificateContents?) -> Int64 = { $0?.notAfterSeconds ?? .min }
        let chosen = wanted.max { lasts($0.contents) < lasts($1.contents) } ?? first
        let others = certificates.indices.filter { index in !pairs.contains { $0.own == index } }
        let chain = ([chosen.own] + others).map { certificates[$0] }
        for certificate in chain { X509_up_ref(certificate) }
        EVP_PKEY_up_ref(chosen.key)
        return (chosen.key, chain)
    }
}

/// The private keys of a PKCS #12 file. `PKCS12_parse` returns only the first one.
enum PKCS12Keys {
    /// Maximum nesting of safes.
    private static let depthMax = 4
    /// Maximum number of keys read from one file.
    private static let keysMax = 16

    /// Returns the keys that can be read. The caller frees them.
    ///
    /// - Parameters:
    ///   - file: a file that `PKCS12_parse` has read with this passphrase.
    ///   - library: the library context that provides the algorithms of the file.
    static func all(in file: OpaquePointer?, _ passphrase: String?, _ library: OpaquePointer) -> [OpaquePointer] {
        defer { OpenSSLErrors.clear() }
        // Without a passphrase, the file may use no password or an empty one.
        let isNone = passphrase == nil && PKCS12_mac_present(file) == 1 && PKCS12_verify_mac(file, nil, 0) == 1
        let words = isNone ? nil : Array((passphrase ?? "").utf8CString)
        let password = Password(words: words, library: library)
        guard let safes = PKCS12_unpack_authsafes(file) else { return [] }
        defer { OPENSSL_sk_pop_free(safes) { PKCS7_free($0.map { $0.assumingMemoryBound(to: PKCS7.self) }) } }
        var keys: [OpaquePointer] = []
        for index in 0..<max(0, OPENSSL_sk_num(safes)) {
            guard let safe = OPENSSL_sk_value(safes, index)?.assumingMemoryBound(to: PKCS7.self) else { continue }
            let bags: OpaquePointer?
            switch OBJ_obj2nid(safe.pointee.type) {
            case NID_pkcs7_data: bags = PKCS12_unpack_p7data(safe)
            case NID_pkcs7_encrypted: bags = PKCS12_unpack_p7encdata(safe, words, password.length)
            default: bags = nil
            }
            guard let bags else { continue }
            defer { OPENSSL_sk_pop_free(bags) { PKCS12_SAFEBAG_free($0.map { OpaquePointer($0) }) } }
            add(bags, password, depth: 1, to: &keys)
        }
        return keys
    }

    private struct Password {
        var words: [CChar]?
        var library: OpaquePointer
        /// Length without the terminating zero.
        var length: Int32 { words.map { Int32(clamping: $0.count - 1) } ?? 0 }
    }

    private static func add(_ bags: OpaquePointer, _ password: Password, depth: Int, to keys: inout [OpaquePointer]) {
        for index in 0..<max(0, OPENSSL_sk_num(bags)) where keys.count < keysMax {
            guard let bag = OPENSSL_sk_value(bags, index).map({ OpaquePointer($0) }) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag:
                guard let key = EVP_PKCS82PKEY_ex(PKCS12_SAFEBAG_get0_p8inf(bag), password.library, nil) else {
                    continue
                }
                keys.append(key)
            case NID_pkcs8ShroudedKeyBag:
                let info = PKCS12_decrypt_skey_ex(bag, password.words, password.length, password.library, nil)
                guard let info else { continue }
                defer { PKCS8_PRIV_KEY_INFO_free(info) }
                guard let key = EVP_PKCS82PKEY_ex(info, password.library, nil) else { continue }
                keys.append(key)
            case NID_safeContentsBag:
                guard depth < depthMax, let inner = PKCS12_SAFEBAG_get0_safes(bag) else { continue }
                add(inner, password, depth: depth + 1, to: &keys)
            default: continue
            }
        }
    }
}
