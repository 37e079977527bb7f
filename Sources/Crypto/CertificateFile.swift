internal import COpenSSL

/// A certificate and its private key, as exported from a keychain or a developer account in PEM, DER or PKCS #12
/// (`.p12`, `.pfx`).
public struct CertificateFile: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The certificate of the private key, then the certificates of the file that match no key, in PEM. These are
    /// usually the chain to the authority.
    public let chainPEM: String
    /// The private key in PEM, without a passphrase. A secret.
    public let privateKeyPEM: String
    /// The contents of the private key's certificate.
    public let contents: CertificateContents

    /// Reads a certificate file. Detects PEM, DER or PKCS #12 from the bytes.
    ///
    /// - Parameters:
    ///   - key: the private key in PEM or DER; nil if `bytes` contain the key. Must be nil for PKCS #12.
    ///   - passphrase: the passphrase of the key or of the PKCS #12 file. Ignored for a PEM key that has none.
    ///   - isWanted: selects the certificate if the file contains several with private keys. Of several wanted
    ///     certificates for the same user ID (or common name, without a user ID), the last to expire is used. If no
    ///     certificate is wanted, the first is used.
    /// - Throws: `malformed` for an unreadable file, a certificate without its key, a wrong or missing passphrase, or a
    ///   `key` beside PKCS #12. Also `malformed` for wanted certificates of different user IDs (or common names).
    ///   `failed` if OpenSSL fails.
    public init(
        _ bytes: [UInt8], key: [UInt8]? = nil, passphrase: String? = nil,
        isWanted: (CertificateContents) -> Bool = { _ in true }
    ) throws(CryptoError) {
        let text = try PEMText(bytes, what: "the certificate file")
        guard !Self.isPEM(text.bytes) else {
            let key = try key.map { key throws(CryptoError) in try PEMText(key, what: "the key file") }
            try self.init(PrivateCertificate(pem: text, key: key, passphrase: passphrase, isWanted))
            return
        }
        guard key == nil else {
            throw CryptoError(.malformed, "a PKCS #12 file contains its private key; remove key_file")
        }
        try self.init(PrivateCertificate(pkcs12: text.bytes, passphrase: passphrase, isWanted))
    }

    private init(_ certificate: PrivateCertificate) throws(CryptoError) {
        chainPEM = try certificate.chainPEM()
        privateKeyPEM = try certificate.keyPEM()
        contents = try CertificateContents(pem: Array(chainPEM.utf8))
    }

    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains("-----BEGIN ")
    }

    /// A text without the key. `debugDescription` and `customMirror` also omit the key.
    public var description: String { "a certificate and its private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["chainPEM": chainPEM]) }
}
