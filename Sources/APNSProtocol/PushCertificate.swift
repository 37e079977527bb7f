public import Crypto

/// What a provider's certificate says, in the form that Apple gives it (Apple, "Establishing a certificate-based
/// connection to APNs").
public struct PushCertificate: Sendable, Hashable {
    /// Present in certificates for the sandbox, for production, and for more than one topic; the last also with VoIP's.
    static let sandboxObjectID = "1.2.840.113635.100.6.3.1"
    static let productionObjectID = "1.2.840.113635.100.6.3.2"
    static let topicsObjectID = "1.2.840.113635.100.6.3.6"
    static let voipObjectID = "1.2.840.113635.100.6.3.4"
    /// Topics read of one certificate.
    static let topicsMax = 64

    /// Of the whole certificate: what it is known by.
    public let sha256: [UInt8]
    /// What it may push to: first `UID` of its subject, then what its extensions list.
    public let topics: [String]
    /// Where it is good; both for one that says nothing of it.
    public let environments: Set<APNSEnvironment>
    /// From when until when it holds, in seconds since 1970.
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

    /// What Apple's authority puts into a certificate.
    ///
    /// - Parameter topics: each with its kind, such as `app`, `voip` and `complication`; empty for a certificate of its
    ///   subject alone.
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
