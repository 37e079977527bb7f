package import APNS
package import APNSProtocol
package import Delivery

/// With what an app may be pushed to, and which of it each kind of push takes.
package struct AppCredentials {
    package typealias Chosen = [AppDirectory.Kind: Credential.Name]

    /// Several certificates are for the same topic.
    package struct Ambiguity: Error {
        package var certificates: [WorkerConfiguration.APNs.Certificate]
    }

    package var bundleID: String
    /// For every topic.
    package var key: (name: Credential.Name, environments: [APNSEnvironment])?
    package var certificates: [WorkerConfiguration.APNs.Certificate]

    /// A certificate for the very topic, else the key, else a certificate for the app where Apple does not say that the
    /// topic must be listed. Kinds that nothing is for are left out.
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
