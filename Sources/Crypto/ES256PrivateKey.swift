internal import COpenSSL

/// A P-256 private key that signs provider tokens with `ES256`, which is ECDSA over SHA-256 (RFC 7518, 3.4). Immutable
/// and thread-safe.
public struct ES256PrivateKey: Sendable, Equatable {
    private let key: P256Key

    /// Reads a `.p8` file of Apple, which is one unencrypted PKCS #8 `PRIVATE KEY` block. Also accepts lost or escaped
    /// line ends, Base64 around the whole text, and DER (`PEMText`).
    ///
    /// - Parameter source: the origin of the text, for error messages.
    /// - Throws: `malformed` if the text contains no valid key, several different keys, or a key in another format,
    ///   such as `RSA PRIVATE KEY`. `unsupported` if the PKCS #8 key has another type or curve, or is encrypted, or if
    ///   the key has the SEC 1 format. `failed` if OpenSSL fails. No error contains any part of the key.
    public init(pem: [UInt8], source: String = "the key file") throws(CryptoError) {
        let block = try Self.block(in: try PEMText(pem, what: source), source)
        switch block.label {
        case "PRIVATE KEY": break
        case "ENCRYPTED PRIVATE KEY":
            throw CryptoError(.unsupported, "the private key is encrypted; remove the passphrase")
        case "EC PRIVATE KEY":
            throw CryptoError(
                .unsupported,
                "the private key has the SEC 1 format; convert the key to PKCS #8 with openssl pkcs8 -topk8 -nocrypt")
        default:
            throw CryptoError(.malformed, "\(source) contains a block \(block.label) instead of PRIVATE KEY")
        }
        OpenSSLErrors.clear()
        let info = block.decode({ d2i_PKCS8_PRIV_KEY_INFO(nil, &$0, $1) }, free: { PKCS8_PRIV_KEY_INFO_free($0) })
        guard let info else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "the PRIVATE KEY block is not a PKCS #8 key")
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let pointer = EVP_PKCS82PKEY(info) else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "cannot read the private key")
        }
        let key = try P256Key(owning: pointer, what: "the private key")
        try Self.check(key)
        self.key = key
    }

    /// Returns the block of the only private key. If the text contains no `PRIVATE KEY`, returns another block, from
    /// which the caller derives the error message.
    private static func block(in text: PEMText, _ source: String) throws(CryptoError) -> PEMBlock {
        guard !text.isPKCS12 else {
            throw CryptoError(
                .malformed, "\(source) is a PKCS #12 file (.p12), which is for certificates; use a .p8 file")
        }
        let candidates = text.blocks.filter { $0.label == "PRIVATE KEY" }
        guard let chosen = candidates.first ?? text.blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") })
        else { return try PEMBlock.first(in: text.bytes, what: source) }
        let block = try PEMBlock.first(in: chosen.text, what: source)
        for other in candidates.dropFirst() {
            guard try !PEMBlock.first(in: other.text, what: source).holdsSame(as: block) else { continue }
            throw CryptoError(
                .malformed,
                "\(source) contains different private keys; keep the key that key_id names, and remove the other keys")
        }
        return block
    }

    /// Reads a `.p8` file from a string.
    public init(pem: String) throws(CryptoError) { try self.init(pem: Array(pem.utf8)) }

    /// Generates a random key. APNs accepts only keys that Apple generated.
    public static func generate() throws(CryptoError) -> ES256PrivateKey {
        ES256PrivateKey(key: try P256Key.generate())
    }

    private init(key: P256Key) { self.key = key }

    /// Checks that the public half is on the curve and matches the private half. Without this check, only a 403 from
    /// APNs would reveal a damaged file.
    private static func check(_ key: P256Key) throws(CryptoError) {
        OpenSSLErrors.clear()
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot check the private key")
        }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_check(context) == 1 else {
            throw CryptoError(
                .malformed, drainingOpenSSLAfter: "the private and public halves of the key do not match")
        }
    }

    /// Signs the SHA-256 hash of `bytes`. The signature is deterministic (RFC 6979).
    ///
    /// - Returns: r and s, 32 bytes each, big-endian, as in JWS (not DER).
    /// - Throws: `failed`.
    public func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let signature = DeterministicECDSA.sign(bytes, with: key) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot sign")
        }
        return signature
    }

    public func publicKey() throws(CryptoError) -> ES256PublicKey { try ES256PublicKey(pem: publicKeyPEM()) }

    /// Returns the public half as a `PUBLIC KEY` PEM block.
    public func publicKeyPEM() throws(CryptoError) -> String { try key.publicPEM() }

    /// Returns the private key as a PKCS #8 `PRIVATE KEY` block, the form of Apple's `.p8` files. A secret.
    public func pkcs8PEM() throws(CryptoError) -> String { try key.pkcs8PEM() }
}
