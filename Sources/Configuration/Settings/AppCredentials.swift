package import APNS
package import APNSProtocol
package import Delivery

/// The credentials that an app may use, and the choice among them for each kind of push.
package struct AppCredentials {
    package typealias Chosen = [AppDirectory.Kind: Credential.Name]

    /// The error that several certificates cover the same topic.
    package struct Ambiguity: Error {
        package var certificates: [WorkerConfiguration.APNs.Certificate]
    }

    package var bundleID: String
    /// The key, which serves every topic; nil without a key.
    package var key: (name: Credential.Name, environments: [APNSEnvironment])?
    package var certificates: [WorkerConfiguration.APNs.Certificate]

    /// Returns the credential for each kind of push. The order of preference is:
    ///
    /// 1. a certificate that lists the topic, if Apple permits certificates for the kind,
    /// 2. the key, if it serves the environment,
    /// 3. a certificate for the app, if Apple permits an unlisted topic.
    ///
    /// Omits kinds without a credential. Considers only certificates for the environment.
    ///
    /// - Throws: if several certificates list the same topic.
    package func chosen(in environment: APNSEnvironment) throws(Ambiguity) -> Chosen {
        var chosen: Chosen = [:]
        for kind in AppDirectory.Kind.all { chosen[kind] = try credential(for: kind, in: environment) }
        return chosen
    }

    private func credential(
        for kind: AppDirectory.Kind, in environment: APNSEnvironment
    ) throws(Ambiguity) -> Credential.Name? {
        let topic = String(decoding: kind.topic(bundleID: bundleID.utf8), as: UTF8.self)
        if kind.certificateNeed != .impossible, let listed = try certificate(for: topic, environment) { return listed }
        if let key, key.environments.contains(environment) { return key.name }
        return kind.certificateNeed == .app ? try certificate(for: bundleID, environment) : nil
    }

    private func certificate(for topic: String, _ environment: APNSEnvironment) throws(Ambiguity) -> Credential.Name? {
        let fitting = certificates.filter {
            $0.contents.topics.contains(topic) && $0.contents.environments.contains(environment)
        }
        guard fitting.count <= 1 else { throw Ambiguity(certificates: fitting) }
        return fitting.first.map { .certificate($0.name) }
    }
}
