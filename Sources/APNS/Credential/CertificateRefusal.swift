public import APNSProtocol

/// A refusal of the certificate by APNs, before APNs processed any push.
public enum CertificateRefusal: Sendable, Hashable {
    /// A TLS handshake that APNs aborted, for example because the certificate was revoked (Apple, "Establishing a
    /// certificate-based connection to APNs"). The value is the TLS error's text.
    case handshake(String)
    /// A GOAWAY from APNs with this reason.
    case goAway(Reason)
}

extension Reason {
    /// Whether a GOAWAY with this reason refuses the certificate. If the certificate does not cover a topic, APNs
    /// refuses each push to the topic instead.
    var isAboutCertificate: Bool { self == .badCertificate || self == .badCertificateEnvironment }
}
