internal import COpenSSL

/// A P-256 public key, which verifies the signatures of an ``ES256PrivateKey``. Immutable and thread-safe.
public struct ES256PublicKey: Sendable {
    private let key: P256Key
    /// The key as one `PUBLIC KEY` PEM block.
    public let pem: String

    /// Reads a `PUBLIC KEY` PEM block.
    ///
    /// - Throws: `malformed` if the first block is not a valid `PUBLIC KEY`. `unsupported` if the key has another type
    ///   or curve. `failed` if OpenSSL fails.
    public init(pem: [UInt8]) throws(CryptoError) {
        let block = try PEMBlock.first(in: pem, what: "the public key file")
        guard block.label == "PUBLIC KEY" else {
            throw CryptoError(.malformed, "the public key file contains a block \(block.label) instead of PUBLIC KEY")
        }
        OpenSSLErrors.clear()
        guard let pointer = block.decode({ d2i_PUBKEY(nil, &$0, $1) }, free: { EVP_PKEY_free($0) }) else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "cannot read the public key")
        }
        key = try P256Key(owning: pointer, what: "the public key")
        self.pem = try key.publicPEM()
    }

    /// Reads a `PUBLIC KEY` PEM block from a string.
    public init(pem: String) throws(CryptoError) { try self.init(pem: Array(pem.utf8)) }

    /// Returns whether `signature` is a signature of the SHA-256 hash of `bytes` with this key. Returns false for a
    /// malformed signature, or if OpenSSL fails.
    ///
    /// - Parameter signature: r and s in 64 bytes, as in JWS, or a DER sequence. A signature of 64 bytes is read as r
    ///   and s. A DER sequence of that length would contain r and s of 58 bytes together, which does not occur in
    ///   practice.
    public func verify(signature: [UInt8], of bytes: [UInt8]) -> Bool {
        let isRaw = signature.count == ES256Signature.rawBytes
        guard let der = isRaw ? ES256Signature.der(fromRaw: signature) : signature else { return false }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            OpenSSLErrors.clear()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1
            && EVP_DigestVerify(context, der, der.count, bytes, bytes.count) == 1
    }
}
