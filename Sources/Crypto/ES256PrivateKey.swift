internal import COpenSSL

/// The private half of a P-256 key, with which provider tokens are signed: ECDSA over SHA-256, `ES256` of RFC 7518, 3.4.
/// Immutable, usable from every thread.
public struct ES256PrivateKey: Sendable, Equatable {
    private let key: P256Key

    /// Reads the `.p8` file that Apple gives out: one PKCS#8 `PRIVATE KEY` block, not encrypted. Line ends may be lost or
    /// escaped, the whole may be Base64 once more, and DER is read too (`PEMText`).
    ///
    /// - Parameter source: where the text is from, in words for an operator.
    /// - Throws: `malformed` when it holds no such key or several, `unsupported` when the key is of another kind, on another
    ///   curve or encrypted. No error contains any part of the key.
    public init(pem: [UInt8], source: String = "the key file") throws(CryptoError) {
        let block = try Self.block(in: try PEMText(pem, what: source), source)
        switch block.label {
        case "PRIVATE KEY": break
        case "ENCRYPTED PRIVATE KEY":
            throw CryptoError(.unsupported, "the private key is encrypted; it must be without a passphrase")
        case "EC PRIVATE KEY":
            throw CryptoError(
                .unsupported,
                "the private key is in the SEC 1 form; turn it into PKCS#8 with openssl pkcs8 -topk8 -nocrypt")
        default:
            throw CryptoError(.malformed, "\(source) holds a \(block.label) where a PRIVATE KEY is wanted")
        }
        OpenSSLErrors.clear()
        let info = block.decode({ d2i_PKCS8_PRIV_KEY_INFO(nil, &$0, $1) }, free: { PKCS8_PRIV_KEY_INFO_free($0) })
        guard let info else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "the PRIVATE KEY block is no PKCS#8 key")
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let pointer = EVP_PKCS82PKEY(info) else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "the private key cannot be read")
        }
        let key = try P256Key(owning: pointer, what: "the private key")
        try Self.check(key)
        self.key = key
    }

    /// The only private key; in a file without one, what comes nearest to it.
    private static func block(in text: PEMText, _ source: String) throws(CryptoError) -> PEMBlock {
        guard !text.isPKCS12 else {
            throw CryptoError(
                .malformed, "\(source) is PKCS #12 (.p12), which is for certificates; a key is in a .p8 file")
        }
        let candidates = text.blocks.filter { $0.label == "PRIVATE KEY" }
        guard let chosen = candidates.first ?? text.blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") })
        else { return try PEMBlock.first(in: text.bytes, what: source) }
        let block = try PEMBlock.first(in: chosen.text, what: source)
        for other in candidates.dropFirst() {
            guard try !PEMBlock.first(in: other.text, what: source).holdsSame(as: block) else { continue }
            throw CryptoError(
                .malformed,
                "\(source) holds different private keys: keep the one that key_id names, and remove the others")
        }
        return block
    }

    /// As `init(pem:)` of bytes.
    public init(pem: String) throws(CryptoError) { try self.init(pem: Array(pem.utf8)) }

    /// A new random key, for tests, the quickstart and the simulator.
    public static func generate() throws(CryptoError) -> ES256PrivateKey {
        ES256PrivateKey(key: try P256Key.generate())
    }

    private init(key: P256Key) { self.key = key }

    /// That both halves belong together and lie on the curve: a damaged file is found here, not by APNs' 403.
    private static func check(_ key: P256Key) throws(CryptoError) {
        OpenSSLErrors.clear()
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot check the private key")
        }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_check(context) == 1 else {
            throw CryptoError(
                .malformed, drainingOpenSSLAfter: "the two halves of the private key do not belong together")
        }
    }

    /// Signs SHA-256 of `bytes`: the same signature for the same bytes, everywhere (RFC 6979).
    ///
    /// - Returns: r and s, 32 bytes each, big-endian, as JWS wants them (not DER).
    /// - Throws: `failed`.
    public func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let signature = DeterministicECDSA.sign(bytes, with: key) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot sign")
        }
        return signature
    }

    /// The other half.
    public func publicKey() throws(CryptoError) -> ES256PublicKey { try ES256PublicKey(pem: publicKeyPEM()) }

    /// The other half as a `PUBLIC KEY` PEM block.
    public func publicKeyPEM() throws(CryptoError) -> String { try key.publicPEM() }

    /// The key itself as a PKCS#8 `PRIVATE KEY` block, as Apple's `.p8` files hold it. A secret.
    public func pkcs8PEM() throws(CryptoError) -> String { try key.pkcs8PEM() }
}
