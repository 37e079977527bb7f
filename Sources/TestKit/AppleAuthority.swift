package import APNSProtocol
package import Crypto

/// Provider certificates in the format that Apple's authority issues.
package enum AppleAuthority {
    package static let authority = try! CertificateAuthority.make(name: "Tests")

    package static func certificate(
        topic: String? = "com.example.app", environments: Set<APNSEnvironment> = [.sandbox, .production],
        topics: [(String, String)] = [], validity: CertificateAuthority.Validity = .init()
    ) -> IssuedCertificate {
        try! authority.issueClient(
            name: "Apple Push Services", userID: topic,
            extensions: PushCertificate.extensions(environments: environments, topics: topics), validity: validity)
    }

    /// A certificate for one topic.
    package static let single = certificate()
    /// A certificate for several topics.
    package static let several = certificate(topics: [
        ("com.example.app", "app"), ("com.example.app.voip", "voip"), ("com.example.app.complication", "complication"),
    ])

    package static func read(_ issued: IssuedCertificate) throws -> PushCertificate {
        PushCertificate(try CertificateContents(pem: Array(issued.certificatePEM.utf8)))
    }
}
