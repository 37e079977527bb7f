public import APNSProtocol
public import Crypto

/// A registered certificate of a provider.
public struct RegisteredCertificate: Sendable {
    public let certificate: PushCertificate
    /// The certificate's PEM block, without the rest of the input, which may contain a private key.
    public let pem: String
    public var teamID: String
    /// Whether TLS refuses connections with the certificate.
    public var isRevoked = false

    /// SHA-256 of the certificate, which identifies it.
    var fingerprint: SHA256Value { SHA256Value(digest: certificate.sha256) }

    /// Creates a registration of the first certificate in a PEM text.
    ///
    /// - Throws: `CryptoError` with the code `malformed` if the text contains no certificate.
    public init(pem: String, teamID: String) throws(CryptoError) {
        self.pem = Self.block(in: pem)
        self.teamID = teamID
        certificate = PushCertificate(try CertificateContents(pem: Array(self.pem.utf8)))
    }

    /// Returns the first certificate's block, or the complete text if it contains no block.
    private static func block(in text: String) -> String {
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        guard let first = text.firstRange(of: begin),
            let last = text[first.upperBound...].firstRange(of: end)
        else { return text }
        return text[first.lowerBound..<last.upperBound] + "\n"
    }
}
