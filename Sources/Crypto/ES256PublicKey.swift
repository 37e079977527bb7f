internal import COpenSSL

/// The public half of a P-256 key: what the simulator checks provider tokens with. Immutable, usable from every thread.
public struct ES256PublicKey: Sendable {
    private let key: P256Key
    /// The key as one `PUBLIC KEY` PEM block, whatever else stood in the text that it was read from.
    public let pem: String

    /// Reads a `PUBLIC KEY` PEM block.
    ///
    /// - Throws: `malformed` when it holds none, `unsupported` when the key is of another kind or on another curve.
    public init(pem: [UInt8]) throws(CryptoError) {
        let block = try PEMBlock.first(in: pem, what: "the public key file")
        guard block.label == "PUBLIC KEY" else {
            throw CryptoError(.malformed, "the public key file holds a \(block.label) where a PUBLIC KEY is wanted")
        }
        OpenSSLErrors.clear()
        guard let pointer = block.decode({ d2i_PUBKEY(nil, &$0, $1) }, free: { EVP_PKEY_free($0) }) else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "the public key cannot be read")
        }
        key = try P256Key(owning: pointer, what: "the public key")
        self.pem = try key.publicPEM()
    }

    /// As `init(pem:)` of bytes.
    public init(pem: String) throws(CryptoError) { try self.init(pem: Array(pem.utf8)) }

    /// Whether `signature` is this key's over SHA-256 of `bytes`; 41 µs. False for every malformed signature.
    ///
    /// - Parameter signature: 64 bytes of r and s as in JWS, or DER. (A DER signature of exactly 64 bytes would need r and s of
    ///   58 bytes together, which nobody meets.)
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
