public import APNSProtocol
public import Crypto

/// A provider's certificate as Apple's registry holds it.
public struct RegisteredCertificate: Sendable {
    public let certificate: PushCertificate
    /// The certificate itself, without what stood around it, which may have been a private key.
    public let pem: String
    public var teamID: String
    /// Connections with it are refused within TLS.
    public var isRevoked = false

    /// What it is known by.
    var fingerprint: SHA256Value { SHA256Value(digest: certificate.sha256) }

    /// - Throws: `malformed` when the text holds no certificate.
    public init(pem: String, teamID: String) throws(CryptoError) {
        self.pem = Self.block(in: pem)
        self.teamID = teamID
        certificate = PushCertificate(try CertificateContents(pem: Array(self.pem.utf8)))
    }

    /// The first certificate's block; all of a text that has none.
    private static func block(in text: String) -> String {
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        guard let first = text.firstRange(of: begin),
            let last = text[first.upperBound...].firstRange(of: end)
        else { return text }
        return text[first.lowerBound..<last.upperBound] + "\n"
    }
}
