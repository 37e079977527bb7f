internal import COpenSSL

/// A certificate and its private key as they come out of a keychain or a developer account's page: PEM, or PKCS #12
/// (`.p12`, `.pfx`).
public struct CertificateFile: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// PEM; the key's own certificate first, then those that lead from it to its authority.
    public let chainPEM: String
    /// PEM, without a passphrase. A secret.
    public let privateKeyPEM: String
    /// Of the key's own certificate.
    public let contents: CertificateContents

    /// Reads either form; which it is shows in the bytes.
    ///
    /// - Parameters:
    ///   - key: the private key in PEM, where it is not among `bytes`; PKCS #12 holds its own.
    ///   - passphrase: of the key, or of the whole PKCS #12 file; not looked at where there is none.
    ///   - isWanted: which certificate to take where the file holds several with their keys, in whatever order; of several
    ///     for the same user ID, the one that is valid longest. Where it wants none, the first is taken.
    /// - Throws: `malformed` for what cannot be read, a certificate without its key, a wrong passphrase, and wanted
    ///   certificates of different user IDs.
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
            throw CryptoError(.malformed, "a PKCS #12 file holds its own private key: leave the other file out")
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

    /// Without the key, as are the other two.
    public var description: String { "a certificate and its private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["chainPEM": chainPEM]) }
}
