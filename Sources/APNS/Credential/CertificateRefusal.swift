public import APNSProtocol

/// How APNs says that it does not take a certificate, before it looks at any push.
public enum CertificateRefusal: Sendable, Hashable {
    /// Within TLS, as it does with a revoked one (Apple, "Establishing a certificate-based connection to APNs"); with
    /// what TLS says of it.
    case handshake(String)
    /// By a GOAWAY with this reason.
    case goAway(Reason)
}

extension Reason {
    /// What a GOAWAY says of a certificate; that a topic is not its own comes as the answer to a push.
    var isAboutCertificate: Bool { self == .badCertificate || self == .badCertificateEnvironment }
}
