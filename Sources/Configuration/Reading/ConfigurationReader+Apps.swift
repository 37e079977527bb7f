import APNS
import APNSProtocol
import Delivery
import JSON
import Text

extension ConfigurationReader {
    private typealias Credentials = [APNSEnvironment: AppCredentials.Chosen]

    /// The configured credentials.
    private struct Known {
        /// The keys whose ID resolves, including keys with other mistakes, so that a mistake is reported only once.
        var keys: [Key]
        var certificates: [WorkerConfiguration.APNs.Certificate]
        /// The paths of certificate files, including unreadable files.
        var certificateFiles: [String]

        struct Key {
            var id: String
            var name: Credential.Name
            var environments: [APNSEnvironment]
        }

        var areCertificatesComplete: Bool { certificateFiles.count == certificates.count }
    }

    /// Reads the apps and chooses their credentials.
    ///
    /// - Parameters:
    ///   - apns: the section that names the keys and certificate files.
    ///   - certificates: the certificates that could be read.
    mutating func readApps(
        _ section: JSONValue, _ apns: JSONValue?, _ certificates: [WorkerConfiguration.APNs.Certificate]
    ) -> [WorkerConfiguration.App] {
        let known = Known(
            keys: apns?["keys"]?.elements.compactMap { key($0) } ?? [], certificates: certificates,
            certificateFiles: apns?["certificates"]?.elements.compactMap { $0["file"]?.string } ?? [])
        return section.members.compactMap { name, value in
            guard let bundleID = name.string, let credentials = credentials(of: bundleID, name, value, known) else {
                return nil
            }
            let environment = Self.environment(value)
            if credentials[environment] == nil, let (other, chosen) = credentials.first,
                let credential = AppDirectory.Kind.all.lazy.compactMap({ chosen[$0] }).first
            {
                complain(
                    value["environment"] ?? name,
                    "\(credential) does not serve \(environment.rawValue), the default environment of \(bundleID); "
                        + "for another default, set environment: \(other.rawValue)")
            }
            return WorkerConfiguration.App(
                bundleID: bundleID, credentials: credentials, environment: environment,
                limits: readPushLimits(value["limits"]))
        }
    }

    /// Reads the apps for a check of requests. Every app counts as served in every environment unless the `apns`
    /// section shows the apps and environments that each credential serves. Therefore, no request is refused because
    /// this machine lacks a secret.
    mutating func readCheckedApps(_ section: JSONValue, _ apns: JSONValue?) -> [AppDirectory.App] {
        guard !namesEveryCredential(apns) else { return readApps(section, apns, []).map { AppDirectory.App($0) } }
        let everywhere = AppDirectory.Pools(0)
        return section.members.compactMap { name, value in
            name.string.map {
                AppDirectory.App(
                    bundleID: $0, defaultEnvironment: Self.environment(value), production: everywhere,
                    sandbox: everywhere)
            }
        }
    }

    /// Returns whether the section shows the apps and environments that each credential serves. The section must list
    /// keys, each key ID must resolve, and no certificates may be configured. Only the file of a certificate names its
    /// topics and environments.
    private func namesEveryCredential(_ apns: JSONValue?) -> Bool {
        guard let keys = apns?["keys"], apns?["certificates"] == nil, keys.count > 0 else { return false }
        return keys.elements.allSatisfy { key($0) != nil }
    }

    private static func environment(_ app: JSONValue) -> APNSEnvironment {
        app["environment"]?.string.flatMap { APNSEnvironment(rawValue: $0) } ?? .production
    }

    private func key(_ value: JSONValue) -> Known.Key? {
        resolved(value["key_id"]).map { id in
            let name = Credential.Name.key(id: id, team: resolved(value["team_id"]) ?? "")
            return Known.Key(id: id, name: name, environments: Self.environments(value))
        }
    }

    /// Returns the resolved value; nil if the value does not resolve or is empty.
    private func resolved(_ value: JSONValue?) -> String? {
        value?.string.flatMap { try? resolver.resolve($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the credentials of an app; nil after a reported mistake.
    private mutating func credentials(
        of bundleID: String, _ name: JSONValue, _ value: JSONValue, _ known: Known
    ) -> Credentials? {
        var candidates = AppCredentials(bundleID: bundleID, certificates: [])
        if let key = value["key"] {
            guard let found = named(key: key, known) else { return nil }
            candidates.key = (found.name, found.environments)
        }
        if let certificate = value["certificate"] {
            guard let found = named(certificate: certificate, for: bundleID, known) else { return nil }
            candidates.certificates = [found]
        }
        if value["key"] == nil, value["certificate"] == nil {
            candidates.key = known.keys.count == 1 ? (known.keys[0].name, known.keys[0].environments) : nil
            candidates.certificates = known.certificates
        }
        return chosen(of: candidates, name, known)
    }

    private mutating func named(key value: JSONValue, _ known: Known) -> Known.Key? {
        // The schema reports a key that is not a string.
        guard let id = text(value), let written = value.string, !written.isEmpty else { return nil }
        if let key = known.keys.first(where: { $0.id == id }) { return key }
        complain(
            value,
            id.isEmpty
                ? "\(written) is empty"
                : "no key \(id) in apns.keys\(Suggestion.hint(for: id, among: known.keys.map(\.id)))")
        return nil
    }

    private mutating func named(
        certificate value: JSONValue, for bundleID: String, _ known: Known
    ) -> WorkerConfiguration.APNs.Certificate? {
        guard let file = value.string else { return nil }
        guard let certificate = known.certificates.first(where: { $0.file == file }) else {
            if !known.certificateFiles.contains(file) {
                complain(
                    value,
                    "no file \(file) in apns.certificates\(Suggestion.hint(for: file, among: known.certificateFiles))")
            }
            return nil
        }
        let topics = AppDirectory.Kind.all.map { String(decoding: $0.topic(bundleID: bundleID.utf8), as: UTF8.self) }
        guard topics.contains(where: certificate.contents.topics.contains) else {
            complain(value, "\(certificate.summary), not for \(bundleID)")
            return nil
        }
        return certificate
    }

    private mutating func chosen(
        of candidates: AppCredentials, _ name: JSONValue, _ known: Known
    ) -> Credentials? {
        var credentials: Credentials = [:]
        for environment in APNSEnvironment.allCases {
            do throws(AppCredentials.Ambiguity) {
                let chosen = try candidates.chosen(in: environment)
                credentials[environment] = chosen.isEmpty ? nil : chosen
            } catch {
                let files = error.certificates.map(\.file).joined(separator: " and ")
                complain(name, "several certificates apply: \(files); set certificate to one of these files")
                return nil
            }
        }
        guard credentials.isEmpty else { return credentials }
        if known.keys.count > 1 {
            complain(name, "apns.keys has several keys; set key to the ID of one key")
        } else if known.keys.isEmpty, known.areCertificatesComplete, !known.certificates.isEmpty {
            let others = known.certificates.map(\.summary).joined(separator: "; ")
            complain(name, "no certificate for \(candidates.bundleID): \(others)")
        }
        return nil
    }
}

extension WorkerConfiguration.APNs.Certificate {
    fileprivate var summary: String { "\(file) is for \(name)" }
}
