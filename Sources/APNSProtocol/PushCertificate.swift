public import Crypto

/// The contents of a provider certificate that Apple issued (Apple, "Establishing a certificate-based connection to
/// APNs").
public struct PushCertificate: Sendable, Hashable {
    // Object identifiers of Apple's extensions, two for the environments and then two with lists of topics.
    static let sandboxObjectID = "1.2.840.113635.100.6.3.1"
    static let productionObjectID = "1.2.840.113635.100.6.3.2"
    static let topicsObjectID = "1.2.840.113635.100.6.3.6"
    static let voipObjectID = "1.2.840.113635.100.6.3.4"
    /// Maximum number of topics read from one certificate.
    static let topicsMax = 64

    /// SHA-256 fingerprint, which identifies the certificate.
    public let sha256: [UInt8]
    /// Topics that the certificate allows. The `UID` of its subject precedes the topics in its extensions. At most 64
    /// are read.
    public let topics: [String]
    /// Environments that the certificate allows; both if it names none.
    public let environments: Set<APNSEnvironment>
    /// Validity period, in UNIX seconds.
    public let validSeconds: ClosedRange<Int64>

    public init(_ contents: CertificateContents) {
        sha256 = contents.sha256
        var topics = contents.userID.map { [$0] } ?? []
        for objectID in [Self.topicsObjectID, Self.voipObjectID] {
            for topic in DERSequence.texts(in: contents.extensions[objectID] ?? [])
            where !topics.contains(topic) && topics.count < Self.topicsMax {
                topics.append(topic)
            }
        }
        self.topics = topics
        var environments: Set<APNSEnvironment> = []
        if contents.extensions[Self.sandboxObjectID] != nil { environments.insert(.sandbox) }
        if contents.extensions[Self.productionObjectID] != nil { environments.insert(.production) }
        self.environments = environments.isEmpty ? [.sandbox, .production] : environments
        validSeconds =
            contents.notBeforeSeconds...max(contents.notBeforeSeconds, contents.notAfterSeconds)
    }

    /// Returns the extensions that Apple's certificate authority adds to a certificate.
    ///
    /// - Parameter topics: the topics with their kinds, such as `app`, `voip` and `complication`. Empty for a
    ///   certificate without a list of topics.
    package static func extensions(
        environments: Set<APNSEnvironment>, topics: [(topic: String, kind: String)]
    ) -> [CertificateExtension] {
        var extensions: [CertificateExtension] = []
        let null: [UInt8] = [5, 0]
        if environments.contains(.sandbox) {
            extensions.append(CertificateExtension(objectID: sandboxObjectID, value: null))
        }
        if environments.contains(.production) {
            extensions.append(CertificateExtension(objectID: productionObjectID, value: null))
        }
        if !topics.isEmpty {
            let list = topics.flatMap { topic, kind in
                DERSequence.text(topic) + DERSequence.sequence(DERSequence.text(kind))
            }
            extensions.append(CertificateExtension(objectID: topicsObjectID, value: DERSequence.sequence(list)))
        }
        return extensions
    }
}
